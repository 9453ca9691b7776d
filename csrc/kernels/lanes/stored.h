#ifndef STORED_H
#define STORED_H
#include "lanes/stored_lane.h"

/* Read the calls (struct trace_call) or requests (struct trace_request) of n threads, one thread after the other, as
   expand_calls and expand_requests write them. All must lie in [begin, end) (ns). out: room for all rows of the
   threads. Returns n, or the number of the first thread that must be read otherwise: it has rows outside the
   interval, impossible stamps, or a file that cannot be read. Returns -1 if there is no memory. */
int64_t stored_calls(const struct stored_lane *lanes, int64_t n, int64_t begin, int64_t end, void *out);
int64_t stored_requests(const struct stored_lane *lanes, int64_t n, int64_t begin, int64_t end, void *out);

#endif
