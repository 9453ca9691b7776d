/* What the digits of a time stamp are worth. */
#ifndef RESOLUTION_H
#define RESOLUTION_H

#include <stddef.h>
#include <stdint.h>

/* Which bits of a counter say something, by how far it went between consecutive readings at irregular distances: those
 * below the largest power of two that its step is not less than do not, if it moves in steps. */
uint64_t resolution_mask(const uint64_t *elapsed, size_t n);

/* That of clock_ticks, from here on: once, after the clock was chosen. */
void resolution_find(void);

#endif
