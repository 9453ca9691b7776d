#ifndef CLOCK_H
#define CLOCK_H
#include <stdint.h>

/* A piece of a piecewise linear map of time: value(x) = ((x - origin) * multiplier >> shift) + value, for x from
   `origin` to the origin of the next piece. The same as analyzer.recording.rank_file.clock.PIECE. */
struct clock_piece {
    int64_t origin;
    int64_t value;
    int64_t multiplier;
    int64_t shift;
};

/* The map of one process's time: `pieces` map ticks to ns, and then `corrections` map ns to corrected ns. Both are
   sorted by origin. There is at least one piece; there may be no correction. */
struct clock {
    const struct clock_piece *pieces;
    const struct clock_piece *corrections;
    int64_t n_pieces;
    int64_t n_corrections;
};

/* Write the values of n numbers `x` to `values`, which has room for n. There must be at least one piece. */
void clock_values(const struct clock_piece *pieces, int64_t n_pieces, const int64_t *x, int64_t n, int64_t *values);

#endif
