#ifndef REQUESTS_H
#define REQUESTS_H
#include <stdint.h>

/* Copy the requests (struct trace_request) of n rows that have wanted[what] and were posted at `least` (ns) or
   later, sorted by `posted` or by `completed`; rows of the same time keep their order. wanted: one entry for each
   value of `what`. out: room for n rows. Returns the number of rows written; -1: no memory. */
int64_t requests_pick(const void *rows, int64_t n, const uint8_t *wanted, int64_t least, int32_t by_completed,
                      void *out);

/* Do the same for each of n parts of the rows, without a limit of `posted`. Part k is the rows [cuts[k], cuts[k +
   1]). counts: (n), receives the number of rows written for each part. The parts' rows follow each other in `out`.
   Returns the number of rows written; -1: no memory. */
int64_t requests_pick_each(const void *rows, const int64_t *cuts, int64_t n, const uint8_t *wanted,
                           int32_t by_completed, int64_t *counts, void *out);

#endif
