#ifndef REQUESTS_H
#define REQUESTS_H
#include <stdint.h>

/* The rows of n (REQUEST) whose `what` has wanted[what] and whose `posted` is `least` or more, by `posted` or by
   `completed`, equal ones in their order. Returns how many, -1 if memory is short; `out` has room for n. */
int64_t requests_pick(const void *rows, int64_t n, const uint8_t *wanted, int64_t least, int32_t by_completed,
                      void *out);

/* The same, whatever `posted` is, of n parts of the rows, one after the other: part k is [cuts[k], cuts[k + 1]), of
   which there are counts[k]. */
int64_t requests_pick_each(const void *rows, const int64_t *cuts, int64_t n, const uint8_t *wanted,
                           int32_t by_completed, int64_t *counts, void *out);

#endif
