#ifndef DRAW_H
#define DRAW_H
/* Values of parameters, drawn anew at each use where they are random. */

#include <stdbool.h>
#include <stdint.h>

#include "replay.h"

/* Position in the random numbers: a thread, its operation, and the number of draws that the operation had. */
struct draws {
    uint64_t who, op, n;
};

/* Return the next value of a parameter, and advance `draws`. positive: the parameter is a bandwidth or a speed, which
   never becomes 0 by chance. */
double draw_value(const struct quantity *quantity, uint64_t seed, struct draws *draws, bool positive);

#endif
