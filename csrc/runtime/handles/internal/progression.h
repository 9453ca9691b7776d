/* Groups that take no rows of `members`: their world ranks are first, first + stride, ... */
#ifndef PROGRESSION_H
#define PROGRESSION_H

#include <stdint.h>

#include "schema.h"

/* Code of a group that is not known, in a row of `communicators`. */
#define GROUP_UNKNOWN (UINT64_C(1) << PROGRESSION_BIT)

/* Return the code of a progression in a row of `communicators`. */
static inline uint64_t progression(uint32_t first, uint32_t stride)
{
    return GROUP_UNKNOWN | (uint64_t)stride << PROGRESSION_STRIDE_SHIFT | first;
}

/* Return the code of these members; 0: they are no progression. A group of one is one. Processes outside our world
   (UINT32_MAX) are in none: world ranks are ints. */
static inline uint64_t progression_of(const uint32_t *members, uint32_t size)
{
    if (!size || members[0] > INT32_MAX) return 0;
    uint32_t stride = size > 1 ? members[1] - members[0] : 1; /* beyond INT32_MAX if the second is the smaller one */
    if (!stride || stride > INT32_MAX) return 0;
    for (uint32_t i = 1; i < size; i++) {
        if (members[i] > INT32_MAX || members[i] - members[i - 1] != stride) return 0;
    }
    return progression(members[0], stride);
}

#endif
