#ifndef WAITS_DONE_H
#define WAITS_DONE_H
#include <stdint.h>

struct waits;

/* What a rank completed in the window of the calls that follow (struct trace_request), its lanes from `first` on. -1:
   no memory. */
int64_t waits_done(struct waits *waits, const void *requests, int64_t n, int32_t first, int32_t threads);

#endif
