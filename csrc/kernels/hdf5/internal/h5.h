/* Reads HDF5 files in their oldest form, as the runtime and the analyzer write them. Only forms with a single
   meaning are read, and they are checked byte by byte. Everything else is refused, so that HDF5 itself reads it.
   Addresses and lengths are bytes. Section numbers are those of the "HDF5 File Format Specification, Version 2.0",
   if nothing else is said. */
#ifndef H5_H
#define H5_H

#include <stdbool.h>
#include <stdint.h>

enum { H5_BLOCK_BYTES = 4096, H5_BLOCKS = 32, H5_MOST_MESSAGES = 96, H5_MOST_LEVELS = 8 };
#define H5_UNDEFINED UINT64_MAX

struct h5 {
    int fd;
    uint64_t bytes;                                 /* of the file */
    uint64_t end;                                   /* end of the file, as its superblock says */
    uint64_t root;                                  /* address of the root group's object header */
    uint32_t symbols_most, group_most, chunks_most; /* entries of a node: of symbols, of a group, of chunks */
    uint64_t number[H5_BLOCKS], size[H5_BLOCKS];    /* the blocks of the file that are in memory: k at k % H5_BLOCKS */
    unsigned char block[H5_BLOCKS][H5_BLOCK_BYTES];
};

enum h5_message_type {
    H5_NIL = 0x00,
    H5_DATASPACE = 0x01,
    H5_LINK_INFO = 0x02,
    H5_DATATYPE = 0x03,
    H5_FILL_VALUE = 0x05,
    H5_LINK = 0x06,
    H5_LAYOUT = 0x08,
    H5_GROUP_INFO = 0x0A,
    H5_FILTERS = 0x0B,
    H5_ATTRIBUTE = 0x0C,
    H5_CONTINUATION = 0x10,
    H5_SYMBOL_TABLE = 0x11,
    H5_MODIFIED = 0x12,
};

struct h5_message {
    uint64_t at;
    uint16_t type, size;
    bool shared; /* only of a datatype: the message says where the shared message is */
};

struct h5_messages {
    int count;
    struct h5_message of[H5_MOST_MESSAGES];
};

/* Begin to read an open file of `bytes` bytes. `fd` stays the caller's, and must stay open. Returns false if the
   file does not have this form. */
bool h5_open(struct h5 *f, int fd, uint64_t bytes);

/* Return true if [at, at + bytes) lies in the file. HDF5 reads nodes in full, even if little of them is used. */
static inline bool h5_has(const struct h5 *f, uint64_t at, uint64_t bytes)
{
    return at <= f->end && bytes <= f->end - at;
}

/* Copy `bytes` bytes from address `at`. Returns false if not all of them lie in the file, or if reading fails. */
bool h5_read(struct h5 *f, uint64_t at, uint64_t bytes, void *into);

/* Read all messages of an object header, without the continuations. Returns false if the header is damaged or has a
   message of another type than those above. */
bool h5_messages(struct h5 *f, uint64_t header, struct h5_messages *found);

/* Return the only message of a type; NULL: there is none, or several. It points into `all`. */
const struct h5_message *h5_only(const struct h5_messages *all, enum h5_message_type type);

/* Callback that receives the name and the address of the object header of each member of a group. */
typedef bool h5_note(void *context, const char *name, uint64_t header);

/* Call `note` for each member of a group that has these messages: in order of name if the group has a tree, else in
   the order of the header, which may name a member twice. */
bool h5_members(struct h5 *f, const struct h5_messages *group, h5_note *note, void *context);

/* Read the number of rows of a dataspace of one dimension, or 1 for a single value (then `single` is true). Returns
   false for any other dataspace. */
bool h5_rows(struct h5 *f, const struct h5_message *dataspace, bool *single, uint64_t *rows);

/* Return the bytes of a value of the datatype message at address `datatype`, which has `room` bytes; 0: damaged. */
uint32_t h5_value_bytes(struct h5 *f, uint64_t datatype, uint64_t room);

/* A dataset of one dimension. */
struct h5_table {
    uint64_t rows;
    uint32_t row_bytes;
    uint32_t chunk_rows; /* 0: all rows lie together */
    uint64_t at; /* address of the rows, of the tree of chunks, or of the only chunk; H5_UNDEFINED: none were written */
    uint64_t only_bytes;                 /* bytes of the only chunk; 0: a tree leads to the chunks */
    uint32_t only_mask;                  /* filters that were not applied to the only chunk, as bits */
    struct h5_message datatype, filters; /* filters.size 0: none */
};

/* Read the dataset whose object header is at `header`. Returns false if it has another form. */
bool h5_table(struct h5 *f, uint64_t header, struct h5_table *table);

/* The places of the n chunks of a table, and the bytes of each. The caller owns the arrays, with room for n. */
struct h5_chunks {
    uint64_t n, found;
    int64_t *at;
    uint32_t *bytes;
};

/* Find the chunks of a table. Returns false if a chunk is missing. */
bool h5_chunks(struct h5 *f, const struct h5_table *table, struct h5_chunks *chunks);

/* Return the little-endian number in `size` bytes of memory. */
static inline uint64_t h5_number(const unsigned char *bytes, int size)
{
    uint64_t number = 0;
    for (int i = size; i--;) number = number << 8 | bytes[i];
    return number;
}

#endif
