#ifndef DIMSTREAM_H
#define DIMSTREAM_H
/* The stream of operations that is being read: a thread of a task. */
#include <stdbool.h>
#include <stdint.h>

#include "dimemas/dimformat.h"
#include "dimemas/dimopen.h"
#include "replay.h"
#include "text/inline/fields.h"

struct dim_reader {
    int64_t tasks;
    int64_t *first_stream; /* (tasks + 1) of each task */
    int64_t *lengths;      /* of each stream */
    int32_t *slots;
    int64_t stream; /* being read; -1: none yet */
    int32_t task;
    int64_t comms;
    int32_t *ids, *index, *members;
    int64_t *offsets;
    uint8_t *member; /* of each communicator: the task being read is one */
    int64_t known;   /* the communicator found last */
    struct dim_open *open;
    int64_t burst; /* not yet part of an operation */
    int64_t eager_limit;
    bool at_offsets;
    int64_t line;
    enum dim_reason reason;
    struct op *out;
};

struct cursor {
    const char *at, *end; /* of the line, without its line end */
    enum dim_reason reason;
};

static inline void dim_wrong(struct cursor *c, enum dim_reason reason)
{
    if (c->reason == DIM_FINE) c->reason = reason;
}

static inline int64_t dim_number(struct cursor *c)
{
    int64_t value;
    if (!field_integer(&c->at, c->end, &value)) dim_wrong(c, DIM_BAD_FIELD);
    return value;
}

/* Add an operation to the thread that is being read; the burst before it is part of it. */
void dim_put(struct dim_reader *r, struct op op);

/* Add the burst before as an operation of its own that does nothing, if there is one. */
void dim_put_burst(struct dim_reader *r);

#endif
