#ifndef DIMSTREAM_H
#define DIMSTREAM_H
/* State of reading the stream of operations of one thread of a task. */
#include <stdbool.h>
#include <stdint.h>

#include "dimemas/dimformat.h"
#include "dimemas/dimopen.h"
#include "replay.h"
#include "text/inline/fields.h"

struct dim_reader {
    int64_t tasks;
    int64_t *first_stream; /* (tasks + 1) first stream of each task */
    int64_t *lengths;      /* of each stream */
    int32_t *slots;
    int64_t stream; /* the stream that is being read; -1: none yet */
    int32_t task;
    int64_t comms;
    int32_t *ids, *index, *members;
    int64_t *offsets;
    uint8_t *member; /* by communicator: 1 if the task that is being read is a member */
    int64_t known;   /* index of the communicator that was found last */
    struct dim_open *open;
    int64_t burst; /* ns, not yet part of an operation */
    int64_t eager_limit;
    bool at_offsets;
    int64_t line;
    enum dim_reason reason;
    struct op *out;
};

/* A place in a line, and the first fault that was found in it. */
struct cursor {
    const char *at, *end; /* of the line, without its line end */
    enum dim_reason reason;
};

/* Note a fault of the line, if it is the first. */
static inline void dim_wrong(struct cursor *c, enum dim_reason reason)
{
    if (c->reason == DIM_FINE) c->reason = reason;
}

/* Read the next integer of the line. Notes DIM_BAD_FIELD if there is none. */
static inline int64_t dim_number(struct cursor *c)
{
    int64_t value;
    if (!field_integer(&c->at, c->end, &value)) dim_wrong(c, DIM_BAD_FIELD);
    return value;
}

/* Add an operation to the thread that is being read. The burst before it becomes a part of it. */
void dim_put(struct dim_reader *r, struct op op);

/* Add the burst before, if there is one, as an operation that does nothing else. */
void dim_put_burst(struct dim_reader *r);

#endif
