/* Piecewise linear maps of time over whole columns. */
#include "clock.h"
#include "include/ticks.h"

void clock_values(const struct clock_piece *pieces, int64_t n_pieces, const int64_t *x, int64_t n, int64_t *values)
{
    for (int64_t i = 0; i < n; i++) values[i] = clock_value(pieces, n_pieces, (uint64_t)x[i]);
}
