#ifndef STORED_H
#define STORED_H
#include "lanes/stored_lane.h"

/* What all of n threads did, which must lie in [begin, end) (ns): CALL, REQUEST, as expand_... gives them of each, one
   thread after the other. Returns n, or the number of the first thread of which something is otherwise: rows before or
   after, stamps that cannot be, a file that cannot be read. -1: no memory. */
int64_t stored_calls(const struct stored_lane *lanes, int64_t n, int64_t begin, int64_t end, void *out);
int64_t stored_requests(const struct stored_lane *lanes, int64_t n, int64_t begin, int64_t end, void *out);

#endif
