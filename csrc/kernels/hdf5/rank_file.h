#ifndef RANK_FILE_H
#define RANK_FILE_H

#include <stdint.h>

/* Bytes that were found, as many as there is room for. */
struct found_bytes {
    unsigned char *bytes;
    int64_t room, used;
};

/* A table of the file. */
struct found_table {
    int64_t rows;       /* -1: there is none of that name */
    int64_t chunk_rows; /* 0: its rows do not lie in chunks, or not so that their places are known */
    int64_t at, bytes;  /* its part of `data`: the rows; or the places of their chunks (int64), and both end rows */
    int64_t filtered;   /* 1: behind the places come the bytes of each chunk (int64), and no rows */
};

/* What the small part of a rank file says, or of a rank's group in a packed run. The shape is what the files of a run
   have in common: 'A' of each attribute, 'T' of each table, then three parts, each preceded by its length (uint16):
   name, datatype message, and of an attribute the number of its values (uint64; none: a single one), of a table the
   filters message. Values are those of the attributes, one after the other in the same order. In `data` each table's
   part begins on a multiple of 8 bytes.
 */
struct rank_file {
    struct found_bytes shape, values, data;
    struct found_table *tables;
    int64_t modified_ns;
};

enum rank_file_answer { RANK_FILE_READ, RANK_FILE_NO_ROOM, RANK_FILE_OTHER };

/* Read a file of the form that the runtime writes, or of a packed run the group whose object header lies at `group`
   (0: the file's root): its attributes, and of its n tables that are named the first `whole` with all their rows (a
   filtered one as it is stored), of the others the places of their chunks, then the first and the last row; what lies
   together is one chunk. RANK_FILE_NO_ROOM: more room is needed. RANK_FILE_OTHER: it is missing, damaged, or of another
   form; HDF5 can tell. */
enum rank_file_answer rank_file_read(const char *path, int64_t group, const char *const *names, int64_t n,
                                     int64_t whole, struct rank_file *into);

/* Where the groups of a packed run's ranks lie: the object header of the member 000k of `ranks` in `headers[k]`, if
   there is room for it; the others are left as they are. Returns one more than the highest k, or -1: the file is
   missing, damaged, or of another form. */
int64_t rank_groups(const char *path, int64_t *headers, int64_t room);

/* Rows of a table from an open file, every step-th of [first, last), whose chunk k lies at `at[k]`. -1: errno says why
   not; 0: the file ends before them; 1: done. */
int rank_file_rows(int fd, const int64_t *at, int64_t chunk_rows, int64_t row_bytes, int64_t first, int64_t last,
                   int64_t step, void *into);

#endif
