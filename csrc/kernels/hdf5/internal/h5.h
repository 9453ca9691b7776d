/* HDF5 files in their oldest form, as the runtime and the analyzer write them: only what has one meaning, checked byte
   by byte, and everything else refused, for HDF5 itself to read. Section numbers are those of the "HDF5 File Format
   Specification, Version 2.0", if nothing else is said. */
#ifndef H5_H
#define H5_H

#include <stdbool.h>
#include <stdint.h>

enum { H5_BLOCK_BYTES = 4096, H5_BLOCKS = 32, H5_MOST_MESSAGES = 96, H5_MOST_LEVELS = 8 };
#define H5_UNDEFINED UINT64_MAX

struct h5 {
    int fd;
    uint64_t bytes;                                 /* of the file */
    uint64_t end;                                   /* of the file, as it says itself */
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
    bool shared; /* only of a datatype: it tells where the message itself is */
};

struct h5_messages {
    int count;
    struct h5_message of[H5_MOST_MESSAGES];
};

/* `bytes` is the length of the file. False: it is no file of this form. `fd` stays the caller's. */
bool h5_open(struct h5 *f, int fd, uint64_t bytes);

/* Whether all of it lies in the file. HDF5 reads nodes in full, however little of them is used. */
static inline bool h5_has(const struct h5 *f, uint64_t at, uint64_t bytes)
{
    return at <= f->end && bytes <= f->end - at;
}

/* False: not all of it lies in the file. */
bool h5_read(struct h5 *f, uint64_t at, uint64_t bytes, void *into);

/* All messages of an object header, the continuations left out; false: it has others than of the types above, or is
   damaged. */
bool h5_messages(struct h5 *f, uint64_t header, struct h5_messages *found);

/* The only message of a type; NULL: none, or several. */
const struct h5_message *h5_only(const struct h5_messages *all, enum h5_message_type type);

/* Calls `note` with the name and the object header of each member of a group, which has these messages: in order of
   name if it has a tree of them, else as its header does, where one may come again. */
typedef bool h5_note(void *context, const char *name, uint64_t header);
bool h5_members(struct h5 *f, const struct h5_messages *group, h5_note *note, void *context);

/* Rows of a dataspace of one dimension, or 1 of a single value (then `single`); false: neither. */
bool h5_rows(struct h5 *f, const struct h5_message *dataspace, bool *single, uint64_t *rows);

/* Bytes of a value of a datatype, 0: damaged. */
uint32_t h5_value_bytes(struct h5 *f, uint64_t datatype, uint64_t room);

/* A dataset of one dimension. */
struct h5_table {
    uint64_t rows;
    uint32_t row_bytes;
    uint32_t chunk_rows;                 /* 0: all rows lie together */
    uint64_t at;                         /* of the rows, of the tree of chunks, or of the only chunk;
                                            H5_UNDEFINED: none were written */
    uint64_t only_bytes;                 /* of the only chunk; 0: a tree leads to them */
    uint32_t only_mask;                  /* filters that it went without */
    struct h5_message datatype, filters; /* filters.size 0: none */
};
bool h5_table(struct h5 *f, uint64_t header, struct h5_table *table);

/* Where the n chunks of a table lie, and how many bytes they have; false: one is missing. */
struct h5_chunks {
    uint64_t n, found;
    int64_t *at;
    uint32_t *bytes;
};
bool h5_chunks(struct h5 *f, const struct h5_table *table, struct h5_chunks *chunks);

/* Little-endian numbers in bytes that are in memory. */
static inline uint64_t h5_number(const unsigned char *bytes, int size)
{
    uint64_t number = 0;
    for (int i = size; i--;) number = number << 8 | bytes[i];
    return number;
}

#endif
