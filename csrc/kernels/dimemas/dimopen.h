/* Nonblocking operations of a thread of a Dimemas trace between their begin and their wait. */
#ifndef DIMOPEN_H
#define DIMOPEN_H

#include <stdint.h>

struct dim_open;

/* NULL: no memory. */
struct dim_open *dim_open_new(void);
void dim_open_free(struct dim_open *open);

/* Forget all: the next thread begins. */
void dim_open_clear(struct dim_open *open);

/* The slot of an operation that begins; -1: no memory. Those that a wait could name equally have one (a, b). */
int32_t dim_open_add(struct dim_open *open, uint64_t a, uint64_t b, int64_t bytes);

/* The slot of the operation that a wait completes: the first with these bytes, else the first; -1: there is none. */
int32_t dim_open_take(struct dim_open *open, uint64_t a, uint64_t b, int64_t bytes);

/* How many were open at once since the last dim_open_clear. */
int32_t dim_open_slots(const struct dim_open *open);

#endif
