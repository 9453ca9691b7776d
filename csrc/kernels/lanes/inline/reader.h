/* Reads the rows of threads one after the other into memory that is used again. */
#ifndef READER_H
#define READER_H

#include <stdbool.h>

#include "lanes/stored_lane.h"
#include "records.h"

enum reader_table { READER_CALLS, READER_POLLS, READER_REQUESTS, READER_TABLES };

struct reader {
    const struct stored_lane *of;
    int fd;
    int64_t block; /* rows that are read at once where it is not known how many are needed; 0: many */
    void *rows[READER_TABLES];
    int64_t room[READER_TABLES]; /* rows */
};

/* The next thread's file. false: it cannot be opened. reader_close: also if that failed; what was read stays. */
bool reader_open(struct reader *reader, const struct stored_lane *of);
void reader_close(struct reader *reader);
void reader_free(struct reader *reader);

/* The rows of a table from number `first` on whose key lies before `end` (ns; INT64_MAX: all), n of them; their stamps
   are looked at. false: something is wrong, and `no_memory` may be it. */
bool reader_read(struct reader *reader, enum reader_table table, int64_t first, int64_t end, int64_t *n,
                 bool *no_memory);

/* All rows of a table, which must lie in [begin, end). false: they do not, or something is wrong. */
bool reader_read_inside(struct reader *reader, enum reader_table table, int64_t begin, int64_t end, bool *no_memory);

/* How many rows a table has. */
int64_t reader_count(const struct reader *reader, enum reader_table table);

/* The time of a row, which is read alone. false: something is wrong, and `no_memory` may be it. */
bool reader_time(struct reader *reader, enum reader_table table, int64_t row, int64_t *time, bool *no_memory);

/* Of the rows [low, high) of those that were read, the first whose key is `end` or later (ns); `high`: there is none.
 */
int64_t reader_cut(const struct reader *reader, enum reader_table table, int64_t low, int64_t high, int64_t end);

/* Room for so many rows of a table, those that are there stay. false: no memory. */
bool reader_room(struct reader *reader, enum reader_table table, int64_t rows);

/* By what the rows of a thread are in order: ticks. */
static inline uint64_t reader_request_key(const struct file_request *row)
{
    return row->completed ? row->completed : row->posted;
}

#endif
