#ifndef DURATION_H
#define DURATION_H
/* Durations in ns. */

#include <math.h>
#include <stdint.h>

/* ns, 73 years. Nothing lasts longer, so that the sum of a few durations is a number; a replay that would is an error.
 */
static const int64_t LONGEST = (int64_t)1 << 61;

/* llround, which needs a call only where the value is negative or enormous. */
static inline int64_t nearest_ns(double x)
{
    if (!(x >= 0 && x < 4503599627370496.0)) return x < (double)LONGEST ? llround(x) : LONGEST;
    int64_t whole = (int64_t)x;
    return whole + (x - (double)whole >= 0.5);
}

/* Return seconds as ns, rounded to nearest; at most about LONGEST. */
static inline int64_t ns_of(double seconds)
{
    return nearest_ns(seconds * 1e9);
}

#endif
