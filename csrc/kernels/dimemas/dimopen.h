/* Keeps the nonblocking operations of a thread of a Dimemas trace between their begin and their wait. */
#ifndef DIMOPEN_H
#define DIMOPEN_H

#include <stdint.h>

struct dim_open;

/* Create an empty set of operations. Returns NULL if there is no memory. */
struct dim_open *dim_open_new(void);

/* Free a set of operations; NULL is ignored. */
void dim_open_free(struct dim_open *open);

/* Remove all operations, because the next thread begins. */
void dim_open_clear(struct dim_open *open);

/* Add an operation that begins, and return its slot; -1: no memory. Operations that a wait cannot tell apart have
   the same key (a, b). */
int32_t dim_open_add(struct dim_open *open, uint64_t a, uint64_t b, int64_t bytes);

/* Remove the operation that a wait completes, and return its slot: the first with this key and these bytes, else the
   first with this key; -1: there is none. */
int32_t dim_open_take(struct dim_open *open, uint64_t a, uint64_t b, int64_t bytes);

/* Return the largest number of operations open at once since the last dim_open_clear. */
int32_t dim_open_slots(const struct dim_open *open);

#endif
