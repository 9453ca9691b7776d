#ifndef TICKS_H
#define TICKS_H
/* What kernels ask of a lane for each row: times and world ranks. */

#include <stdbool.h>

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

/* World ranks of a group: listed, or first, first + stride, ... */
struct group {
    const uint32_t *listed; /* NULL: not */
    uint32_t first, stride;
    uint32_t size; /* 0: not known */
};

/* World rank of `peer` in a group; PEER_NONE if it does not hold it. */
static inline int32_t group_rank(const struct group *group, int32_t peer)
{
    if (peer < 0) return peer;
    if ((uint32_t)peer >= group->size) return PEER_NONE;
    return (int32_t)(group->listed ? group->listed[peer] : group->first + (uint32_t)peer * group->stride);
}

/* The (remote) group of a communicator; without members if the table of members does not hold it, or if a progression
   leaves the world, as in a damaged file. Field by field: what is copied as a whole waits for its parts. */
static inline void lane_group(const struct lane *lane, uint32_t row, struct group *group)
{
    const struct file_communicator *c = lane_communicator(lane, row);
    const uint64_t said = c->remote_size ? c->remote : c->members;
    const uint32_t size = c->remote_size ? c->remote_size : c->size;
    bool held;
    if (said >> PROGRESSION_BIT) {
        group->listed = NULL;
        group->first = (uint32_t)said;
        group->stride = (uint32_t)(said >> PROGRESSION_STRIDE_SHIFT) & INT32_MAX;
        held = group->stride && size && group->first + (uint64_t)(size - 1) * group->stride < (uint64_t)lane->ranks;
    } else {
        held = said + size <= (uint64_t)lane->n_members;
        group->listed = lane->members + (held ? said : 0);
        group->first = group->stride = 0;
    }
    group->size = held ? size : 0;
}

/* World rank of `peer` in that group. */
static inline int32_t lane_world(const struct lane *lane, uint32_t row, int32_t peer)
{
    struct group group;
    if (peer < 0) return peer;
    lane_group(lane, row, &group);
    return group_rank(&group, peer);
}

#endif
