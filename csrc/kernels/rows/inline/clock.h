#ifndef CLOCK_VALUES_H
#define CLOCK_VALUES_H
/* Evaluates a piecewise linear map of time, one value at a time. */

#include <stdbool.h>

#include "rows/clock.h"

/* Return the value of x by one piece. Differences are taken modulo 2^64. */
static inline int64_t piece_value(const struct clock_piece *p, uint64_t x)
{
    int64_t elapsed = (int64_t)(x - (uint64_t)p->origin);
    return (int64_t)((__int128)elapsed * p->multiplier >> p->shift) + p->value;
}

/* Return the last piece that begins at or before x (ticks or ns), or the first piece if there is none. n is at least
   1. */
static inline const struct clock_piece *clock_piece_at(const struct clock_piece *p, int64_t n, uint64_t x)
{
    while (n > 1) {
        int64_t half = n / 2;
        if ((int64_t)(x - (uint64_t)p[half].origin) >= 0) p += half;
        n -= half;
    }
    return p;
}

/* Return the value of x by the piece that holds for it. n is at least 1. */
static inline int64_t clock_value(const struct clock_piece *pieces, int64_t n, uint64_t x)
{
    return piece_value(clock_piece_at(pieces, n, x), x);
}

/* The piece that was used last, and the length for which it holds from its origin on; length 0: none was used. Times
   that are read one after the other rarely leave a piece. */
struct last_piece {
    struct clock_piece piece;
    uint64_t length;
};

/* Return the value of x, and make the piece of x the last one. */
int64_t clock_value_elsewhere(struct last_piece *last, const struct clock_piece *pieces, int64_t n, uint64_t x);

/* Return clock_value of x; try the piece that was used last first. */
static inline int64_t clock_value_near(struct last_piece *last, const struct clock_piece *pieces, int64_t n, uint64_t x)
{
    bool is_in = x - (uint64_t)last->piece.origin < last->length;
    return __builtin_expect(is_in, 1) ? piece_value(&last->piece, x) : clock_value_elsewhere(last, pieces, n, x);
}

#endif
