/* Which bits of a time stamp carry information. */
#ifndef RESOLUTION_H
#define RESOLUTION_H

#include <stddef.h>
#include <stdint.h>

/* Return a mask of the bits of a counter that carry information. `elapsed`: ticks between `n` consecutive readings at
 * irregular distances. If the counter moves in steps, the mask clears the bits below the largest power of two that is
 * not more than the step. Otherwise it has all bits.
 * Context: any thread, no lock: a function of its arguments. */
uint64_t resolution_mask(const uint64_t *elapsed, size_t n);

/* Measure the mask of clock_ticks and use it from here on.
 * Context: once, after the clock was chosen and before the first record: run_prepare. */
void resolution_find(void);

#endif
