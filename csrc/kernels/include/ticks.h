#ifndef TICKS_H
#define TICKS_H
/* What kernels ask of a lane for each row: times and world ranks. */

#include <stdbool.h>

#include "lane.h"
#include "records.h"

/* The value of x by a piece. Differences are taken modulo 2^64. */
static inline int64_t piece_value(const struct clock_piece *p, uint64_t x)
{
    int64_t elapsed = (int64_t)(x - (uint64_t)p->origin);
    return (int64_t)((__int128)elapsed * p->multiplier >> p->shift) + p->value;
}

/* The last piece that begins at or before x, ticks or ns, else the first. */
static inline const struct clock_piece *clock_piece_at(const struct clock_piece *p, int64_t n, uint64_t x)
{
    while (n > 1) {
        int64_t half = n / 2;
        if ((int64_t)(x - (uint64_t)p[half].origin) >= 0) p += half;
        n -= half;
    }
    return p;
}

static inline int64_t clock_value(const struct clock_piece *pieces, int64_t n, uint64_t x)
{
    return piece_value(clock_piece_at(pieces, n, x), x);
}

static inline int64_t lane_ns(const struct lane *lane, uint64_t ticks)
{
    const struct clock *c = &lane->clock;
    int64_t ns = clock_value(c->pieces, c->n_pieces, ticks);
    return c->n_corrections ? clock_value(c->corrections, c->n_corrections, (uint64_t)ns) : ns;
}

/* The piece that was used last, and from its origin on for how long it holds; 0: none was. Times that are read one
   after the other rarely leave it. */
struct last_piece {
    struct clock_piece piece;
    uint64_t length;
};

/* Another piece is the last one from now on; the value of x by it. */
int64_t clock_value_elsewhere(struct last_piece *last, const struct clock_piece *pieces, int64_t n, uint64_t x);

/* The same as clock_value. */
static inline int64_t clock_value_near(struct last_piece *last, const struct clock_piece *pieces, int64_t n, uint64_t x)
{
    bool is_in = x - (uint64_t)last->piece.origin < last->length;
    return __builtin_expect(is_in, 1) ? piece_value(&last->piece, x) : clock_value_elsewhere(last, pieces, n, x);
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
