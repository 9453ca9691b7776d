#ifndef DRAW_H
#define DRAW_H
/* Values of parameters, drawn anew at each use where they are random. */

#include <stdbool.h>
#include <stdint.h>

#include "replay.h"

/* What random numbers are for: an operation of a thread, and how many it had. */
struct draws {
    uint64_t who, op, n;
};

/* The next value. positive: a bandwidth or a speed, which never becomes 0 by chance. */
double draw_value(const struct quantity *quantity, uint64_t seed, struct draws *draws, bool positive);

#endif
