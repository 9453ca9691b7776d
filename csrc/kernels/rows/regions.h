#ifndef REGIONS_H
#define REGIONS_H
#include <stdint.h>

/* Write the events (struct file_event) of one thread so that regions nest well and have the numbers of the trace. An
   end of an outer region first ends the regions inside it. An end that belongs to no region is left out. An end with
   number 0 ends the innermost region.

   open: in, the begins of the *n_open regions that are open before the first row; out, those that are open after the
   last row. Room: *n_open + n.
   regions: (n_regions), the trace's number of each region of the file; 0: none, its events are left out.
   parameters: (n_parameters), the same for the numbers of parameters, which are in `flags`.
   counts: (4), added to: [0] ends that belonged to no region; [1] regions that the end of an outer region ended; [2]
   regions that were cut where rows were dropped, and ends without a begin after such a place; [3] is set to 1 at such a
   place.
   out: room for *n_open + 2 * n rows.

   Returns the number of rows in `out`. */
int64_t regions_nest(void *open, int64_t *n_open, const void *rows, int64_t n, const int32_t *regions,
                     int64_t n_regions, const int32_t *parameters, int64_t n_parameters, int64_t *counts, void *out);

#endif
