#ifndef TICKS_H
#define TICKS_H
/* What kernels ask of a lane for each row: times and world ranks. */

#include "records.h"
#include "rows/inline/clock.h"
#include "rows/lane.h"

static inline int64_t lane_ns(const struct lane *lane, uint64_t ticks)
{
    const struct clock *c = &lane->clock;
    int64_t ns = clock_value(c->pieces, c->n_pieces, ticks);
    return c->n_corrections ? clock_value(c->corrections, c->n_corrections, (uint64_t)ns) : ns;
}

/* The procedure of a row; the table ends with one that stands for all unknown ones. */
static inline const struct procedure *lane_procedure(const struct lane *lane, uint16_t call)
{
    return &lane->procedures[call < lane->n_procedures ? call : lane->n_procedures - 1];
}

static inline const struct file_communicator *lane_communicator(const struct lane *lane, uint32_t row)
{
    const struct file_communicator *table = lane->communicators;
    return row < lane->n_communicators ? &table[row] : &table[0];
}

static inline int32_t lane_communicator_index(const struct lane *lane, uint32_t row)
{
    return row < lane->n_communicators ? lane->communicator_index[row] : -1;
}

/* World ranks of the (remote) group of a communicator, and its size: 0 if the table of members does not hold it. */
static inline const uint32_t *lane_group(const struct lane *lane, uint32_t row, uint32_t *size)
{
    const struct file_communicator *c = lane_communicator(lane, row);
    uint64_t first = c->remote_size ? c->remote : c->members;
    *size = c->remote_size ? c->remote_size : c->size;
    if (first + *size <= (uint64_t)lane->n_members) return lane->members + first;
    *size = 0;
    return NULL;
}

/* World rank of `peer` in that group; PEER_NONE if it does not hold it. */
static inline int32_t lane_world(const struct lane *lane, uint32_t row, int32_t peer)
{
    uint32_t size;
    if (peer < 0) return peer;
    const uint32_t *members = lane_group(lane, row, &size);
    return (uint32_t)peer < size ? (int32_t)members[peer] : PEER_NONE;
}

#endif
