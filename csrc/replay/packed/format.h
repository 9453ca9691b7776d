#ifndef FORMAT_H
#define FORMAT_H
/* Operations (struct op) in few bytes, written once and read many times. Both the compiler and cffi read this file:
   plain declarations only.

   What a program does repeats: most operations equal an earlier one but for their burst. Each block of PACK_BLOCK
   operations has a dictionary of its own, so that a reader can begin at any block; streams of many threads begin with
   an empty one, so that each reader of theirs needs few places. An operation is

   1 byte: its place in the dictionary, + PACK_NEW where it is put there now
   1 byte: how many bytes its burst has, 0 to 8
   the burst, the lowest byte first
   where it is new, all other fields as signed numbers of 7 bits a byte, the lowest first: bytes, other, peer, tag,
   comm, request, kind, flags, block */
enum {
    PACK_BLOCK = 1024, /* operations */
    PACK_PLACES = 128,
    PACK_NEW = 128,
    PACK_MOST = 128 /* largest size of an operation in bytes; this many bytes must be readable behind the last one */
};

#endif
