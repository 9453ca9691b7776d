#ifndef CLOCK_H
#define CLOCK_H
#include <stdint.h>

/* value(x) = ((x - origin) * multiplier >> shift) + value, for x from `origin` to that of the next piece;
   analyzer.recording.rank_file.clock.PIECE. */
struct clock_piece {
    int64_t origin;
    int64_t value;
    int64_t multiplier;
    int64_t shift;
};

/* Ticks to ns by `pieces` (one at least, by origin), then ns to corrected ns by `corrections` (or none). */
struct clock {
    const struct clock_piece *pieces;
    const struct clock_piece *corrections;
    int64_t n_pieces;
    int64_t n_corrections;
};

/* The values of n numbers. */
void clock_values(const struct clock_piece *pieces, int64_t n_pieces, const int64_t *x, int64_t n, int64_t *values);

#endif
