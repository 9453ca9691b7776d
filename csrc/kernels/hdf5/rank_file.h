#ifndef RANK_FILE_H
#define RANK_FILE_H

#include <stdint.h>

/* A buffer of the caller's, with room for `room` bytes, of which `used` are written. */
struct found_bytes {
    unsigned char *bytes;
    int64_t room, used;
};

/* A table of the file, as rank_file_read finds it. */
struct found_table {
    int64_t rows; /* number of rows; -1: there is no table of this name */
    int64_t
        chunk_rows;    /* rows in each chunk; 0: the rows do not lie in chunks, or not so that their places are known */
    int64_t at, bytes; /* offset and length of the table's part of `data`: the rows; or the places of their chunks
                          (int64), then the first and the last row */
    int64_t filtered;  /* 1: behind the places come the bytes of each chunk (int64), and no rows */
};

/* The attributes and tables of a rank file, or of a rank's group in a packed run. shape: the part that files of one
   run have in common: 'A' for each attribute, 'T' for each table, then three parts, each preceded by its length
   (uint16): the name; the datatype message; of an attribute the number of its values (uint64; empty: a single
   value), of a table the filters message. values: the values of the attributes, in the same order. data: the parts
   of the tables; each begins at a multiple of 8 bytes. */
struct rank_file {
    struct found_bytes shape, values, data;
    struct found_table *tables;
    int64_t modified_ns;
};

enum rank_file_answer { RANK_FILE_READ, RANK_FILE_NO_ROOM, RANK_FILE_OTHER };

/* Read a rank file in the form that the runtime writes: its attributes, and the n tables with these names. group:
   the address of the object header of a group in a packed run; 0: the file's root. The first `whole` tables are read
   with all their rows (a filtered table as it is stored). Of the others, the places of the chunks and the first and
   the last row are read; rows that lie together count as one chunk. into: the caller owns its buffers and its n
   tables. Returns RANK_FILE_NO_ROOM if a buffer is too small, and RANK_FILE_OTHER if the file is missing, damaged,
   or of another form; HDF5 can tell which. */
enum rank_file_answer rank_file_read(const char *path, int64_t group, const char *const *names, int64_t n,
                                     int64_t whole, struct rank_file *into);

/* Find the groups of ranks in a packed run. headers: (room), receives at k the address of the object header of the
   member 000k of `ranks`; other elements are not changed. Returns the highest k + 1; -1: the file is missing,
   damaged, or of another form. */
int64_t rank_groups(const char *path, int64_t *headers, int64_t room);

/* Read rows of a table from an open file into `into`: every step-th row of [first, last). at: the place of each
   chunk in the file. chunk_rows: rows in a chunk. Returns 1 when done; 0: the file ends before these rows; -1: errno
   has the cause. */
int rank_file_rows(int fd, const int64_t *at, int64_t chunk_rows, int64_t row_bytes, int64_t first, int64_t last,
                   int64_t step, void *into);

#endif
