/* Reads the records of a Dimemas trace into operations ("Dimemas 5.5.0 input format"). */
#ifndef DIMREAD_H
#define DIMREAD_H

#include <stdint.h>

struct dim_reader;

/* Create a reader. threads: (tasks), number of threads of each task. ids: (comms), ids of the communicators,
   ascending. index: (comms), the number by which operations name each communicator. offsets: (comms + 1), the first
   member of each communicator in `members`, where its tasks are ascending. All arrays are copied. Returns NULL if
   there is no memory. */
struct dim_reader *dim_reader_new(int64_t tasks, const int32_t *threads, int64_t comms, const int32_t *ids,
                                  const int32_t *index, const int64_t *offsets, const int32_t *members);

/* Free a reader; NULL is ignored. */
void dim_reader_free(struct dim_reader *reader);

/* Read lines, each of which ends with a newline, until the text ends, `out` (room: `room` struct op) has no room for
   two more operations, or a line is wrong (dim_reader_problem). used: receives the bytes of the lines that were
   read; a wrong line begins there. Returns the number of operations written. */
int64_t dim_read(struct dim_reader *reader, const char *text, int64_t length, void *out, int64_t room, int64_t *used);

/* Write the burst at the end of the last thread, if it has one. Returns the number of operations written, 0 or 1. */
int64_t dim_read_end(struct dim_reader *reader, void *out);

/* Return the fault (enum dim_reason) of the line at which dim_read stopped. line: receives its number, from 1 for
   the first line that was read. */
int64_t dim_reader_problem(const struct dim_reader *reader, int64_t *line);

/* Write for each thread of each task the number of operations so far (lengths) and the largest number of requests
   open at once (slots). The caller owns the arrays, with one element for each thread. */
void dim_reader_streams(const struct dim_reader *reader, int64_t *lengths, int32_t *slots);

/* Return the value of the last event DIM_EAGER_LIMIT (bytes); 0: there was none. */
int64_t dim_reader_eager_limit(const struct dim_reader *reader);

#endif
