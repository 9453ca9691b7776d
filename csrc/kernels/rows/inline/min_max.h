/* The smaller and the larger of two numbers. */
#ifndef MIN_MAX_H
#define MIN_MAX_H

#include <stdint.h>

/* Return the smaller of two numbers. */
static inline int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Return the larger of two numbers. */
static inline int64_t max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
