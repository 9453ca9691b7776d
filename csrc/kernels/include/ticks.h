#ifndef TICKS_H
#define TICKS_H
/* What kernels ask of a lane for each row: times and world ranks. */

#include "lane.h"
#include "records.h"

/* The value of x, ticks or ns, by the last piece that begins at or before it, else by the first. Differences are
   taken modulo 2^64. */
static inline int64_t clock_value(const struct clock_piece *pieces, int64_t n, uint64_t x)
{
    const struct clock_piece *p = pieces;
    while (n > 1) {
        int64_t half = n / 2;
        if ((int64_t)(x - (uint64_t)p[half].origin) >= 0) p += half;
        n -= half;
    }
    int64_t elapsed = (int64_t)(x - (uint64_t)p->origin);
    return (int64_t)((__int128)elapsed * p->multiplier >> p->shift) + p->value;
}

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

/* World rank of `peer` in the (remote) group of a communicator; PEER_NONE if the group does not hold it. */
static inline int32_t lane_world(const struct lane *lane, uint32_t row, int32_t peer)
{
    if (peer < 0) return peer;
    const struct file_communicator *c = lane_communicator(lane, row);
    uint64_t first = c->remote_size ? c->remote : c->members;
    uint32_t size = c->remote_size ? c->remote_size : c->size;
    if ((uint32_t)peer >= size || first + size > (uint64_t)lane->n_members) return PEER_NONE;
    return (int32_t)lane->members[first + (uint32_t)peer];
}

#endif
