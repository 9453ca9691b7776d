#ifndef REGIONS_H
#define REGIONS_H
#include <stdint.h>

/* The events (struct file_event) of one thread with its regions well nested and numbered as in the trace: an end that
   belongs to an outer region ends those inside it first, one that belongs to none is left out, one of number 0 gets
   that of the innermost region.

   `open` holds the begins of the regions that are open before the first row, *n_open of them, and afterwards those that
   are open after the last; room: *n_open + n. regions[k] is the trace's number of region k of the file, 0 if there is
   none (those are left out); the parameters' numbers, in `flags`, likewise. counts[0] grows by the ends that belonged
   to no region, counts[1] by the regions that an outer one's end ended,
   counts[2] by those cut where rows were dropped and ends without a begin after such a place, which sets counts[3].
   Returns the rows in `out`; room: *n_open + 2 * n. */
int64_t regions_nest(void *open, int64_t *n_open, const void *rows, int64_t n, const int32_t *regions,
                     int64_t n_regions, const int32_t *parameters, int64_t n_parameters, int64_t *counts, void *out);

#endif
