/* Reads the records of a Dimemas trace into operations ("Dimemas 5.5.0 input format"). */
#ifndef DIMREAD_H
#define DIMREAD_H

#include <stdint.h>

struct dim_reader;

/* threads: (tasks,) of each. ids: (comms,) ids of the communicators, ascending; index: (comms,) what operations call
   them; offsets: (comms + 1) in members, whose tasks are ascending for each. All are copied. NULL: no memory. */
struct dim_reader *dim_reader_new(int64_t tasks, const int32_t *threads, int64_t comms, const int32_t *ids,
                                  const int32_t *index, const int64_t *offsets, const int32_t *members);
void dim_reader_free(struct dim_reader *reader);

/* Read lines (each ends with '\n') until the text ends, `out` (struct op) has no room for two more or a line is wrong,
   where `used` is then. Returns the number of operations written; used: bytes of the text. */
int64_t dim_read(struct dim_reader *reader, const char *text, int64_t length, void *out, int64_t room, int64_t *used);

/* The burst at the end of the last thread, if it has one: 0 or 1 operations. */
int64_t dim_read_end(struct dim_reader *reader, void *out);

/* What is wrong with the line that dim_read stopped at, and its number, the first read being 1. */
int64_t dim_reader_problem(const struct dim_reader *reader, int64_t *line);

/* Operations of each thread of each task so far, and requests that it has open at once. */
void dim_reader_streams(const struct dim_reader *reader, int64_t *lengths, int32_t *slots);

/* What the last DIM_EAGER_LIMIT said; 0: there was none. */
int64_t dim_reader_eager_limit(const struct dim_reader *reader);

#endif
