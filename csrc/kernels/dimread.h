/* Reads the records of a Dimemas trace into operations ("Dimemas 5.5.0 input format"). */
#ifndef DIMREAD_H
#define DIMREAD_H

#include <stdint.h>

/* Events of these types are our own way to write what Dimemas has no record for; to it they are events like others.
   Their value: the thread's priority from here on; a semaphore; how many threads share the burst before. */
enum { DIM_PRIORITY = 49000010, DIM_SEM_WAIT = 49000011, DIM_SEM_SIGNAL = 49000012, DIM_PARALLEL = 49000013 };

/* Records of our own, which Dimemas refuses: messages to and from other applications, by a port. */
enum { DIM_PORT_SEND = 30, DIM_PORT_RECEIVE = 31 };

/* What is wrong with a line. */
enum dim_reason {
    DIM_FINE = 0,
    DIM_NO_RECORD = 1,
    DIM_UNKNOWN_RECORD = 2,
    DIM_BAD_FIELD = 3,
    DIM_NO_THREAD = 4,
    DIM_NO_PEER = 5,
    DIM_NO_COMMUNICATOR = 6,
    DIM_NO_MEMBER = 7,
    DIM_NO_OPERATION = 8,
    DIM_NOTHING_TO_WAIT_FOR = 9,
    DIM_OUT_OF_ORDER = 10,
    DIM_AFTER_OFFSETS = 11,
    DIM_LATE_DEFINITION = 12,
    DIM_ACCELERATOR = 13,
    DIM_BAD_TIME = 14,
    DIM_BAD_SIZE = 15,
    DIM_NO_MEMORY = 16
};

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

#endif
