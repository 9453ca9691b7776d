/* Reads the rows of threads one after the other into memory that is used again. */
#ifndef READER_H
#define READER_H

#include <stdbool.h>

#include "lanes/stored_lane.h"
#include "records.h"

/* Tables of a thread that can be read. */
enum reader_table { READER_CALLS, READER_POLLS, READER_REQUESTS, READER_TABLES };

/* The thread that is read, and memory that all threads use in turn. Zeros, with fd -1, are a reader of nothing. */
struct reader {
    const struct stored_lane *of;
    int fd;
    int64_t block; /* rows that are read at once if the number needed is not known; 0: many */
    void *rows[READER_TABLES];
    int64_t room[READER_TABLES]; /* rows */
};

/* Open the file of the next thread. Returns false if it cannot be opened; reader_close is needed even then. */
bool reader_open(struct reader *reader, const struct stored_lane *of);

/* Close the file of the thread. The rows that were read stay. */
void reader_close(struct reader *reader);

/* Free the memory for rows. */
void reader_free(struct reader *reader);

/* Read the rows of a table from number `first` on whose key lies before `end` (ns; INT64_MAX: all), and check their
   stamps. n: receives the number of rows. Returns false if the file cannot be read, a stamp is impossible, or there
   is no memory; `no_memory` says so then. */
bool reader_read(struct reader *reader, enum reader_table table, int64_t first, int64_t end, int64_t *n,
                 bool *no_memory);

/* Read all rows of a table. Returns false if a key lies outside [begin, end) (ns), or as reader_read. */
bool reader_read_inside(struct reader *reader, enum reader_table table, int64_t begin, int64_t end, bool *no_memory);

/* Return the number of rows of a table. */
int64_t reader_count(const struct reader *reader, enum reader_table table);

/* Read one row, and write its time (ns) to `time`. Returns false as reader_read. */
bool reader_time(struct reader *reader, enum reader_table table, int64_t row, int64_t *time, bool *no_memory);

/* Return the first of the rows [low, high) in memory whose key is `end` (ns) or later; `high` if there is none. */
int64_t reader_cut(const struct reader *reader, enum reader_table table, int64_t low, int64_t high, int64_t end);

/* Make room for `rows` rows of a table; the rows in memory stay. Returns false if there is no memory. */
bool reader_room(struct reader *reader, enum reader_table table, int64_t rows);

/* Return the key by which a thread's requests are in order (ticks): completion, or posting where there is none. */
static inline uint64_t reader_request_key(const struct file_request *row)
{
    return row->completed ? row->completed : row->posted;
}

#endif
