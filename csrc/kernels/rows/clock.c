/* Piecewise linear maps of time. */
#include "rows/clock.h"

#include "rows/inline/clock.h"

void clock_values(const struct clock_piece *pieces, int64_t n_pieces, const int64_t *x, int64_t n, int64_t *values)
{
    struct last_piece last = {.length = 0};
    for (int64_t i = 0; i < n; i++) values[i] = clock_value_near(&last, pieces, n_pieces, (uint64_t)x[i]);
}

int64_t clock_value_elsewhere(struct last_piece *last, const struct clock_piece *pieces, int64_t n, uint64_t x)
{
    const struct clock_piece *p = clock_piece_at(pieces, n, x);
    last->piece = *p;
    last->length = p + 1 < pieces + n ? (uint64_t)p[1].origin - (uint64_t)p->origin : (uint64_t)1 << 62;
    return piece_value(p, x);
}
