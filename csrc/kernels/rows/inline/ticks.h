#ifndef TICKS_H
#define TICKS_H
/* Looks up times, procedures and world ranks for the rows of a lane. */

#include <stdbool.h>

#include "records.h"
#include "rows/inline/clock.h"
#include "rows/lane.h"

/* Convert ticks of the lane's clock to corrected ns. */
static inline int64_t lane_ns(const struct lane *lane, uint64_t ticks)
{
    const struct clock *c = &lane->clock;
    int64_t ns = clock_value(c->pieces, c->n_pieces, ticks);
    return c->n_corrections ? clock_value(c->corrections, c->n_corrections, (uint64_t)ns) : ns;
}

/* Return the procedure of a row. The last entry of the table stands for all unknown procedures. */
static inline const struct procedure *lane_procedure(const struct lane *lane, uint16_t call)
{
    return &lane->procedures[call < lane->n_procedures ? call : lane->n_procedures - 1];
}

/* Return the communicator of a row of the file; row 0 for a number outside the table. */
static inline const struct file_communicator *lane_communicator(const struct lane *lane, uint32_t row)
{
    const struct file_communicator *table = lane->communicators;
    return row < lane->n_communicators ? &table[row] : &table[0];
}

/* Return the index in Trace.communicators of a row of the file's communicators; -1: unknown. */
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

/* Return the world rank of `peer` in a group; PEER_NONE if the group does not have this rank. Negative peers are
   returned as they are. */
static inline int32_t group_rank(const struct group *group, int32_t peer)
{
    if (peer < 0) return peer;
    if ((uint32_t)peer >= group->size) return PEER_NONE;
    return (int32_t)(group->listed ? group->listed[peer] : group->first + (uint32_t)peer * group->stride);
}

/* Read the group in which peers of a communicator are counted (the remote group, if there is one) into `group`. The
   group has size 0 if the table of members does not hold it, or if a progression leaves the world, as in a damaged
   file. The fields are written one by one: a struct that is copied as a whole waits for its parts. */
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

/* Return the world rank of `peer` in the communicator at `row`; PEER_NONE: unknown. */
static inline int32_t lane_world(const struct lane *lane, uint32_t row, int32_t peer)
{
    struct group group;
    if (peer < 0) return peer;
    lane_group(lane, row, &group);
    return group_rank(&group, peer);
}

#endif
