/* The tracer's own time between two calls, as the rank file says it (overhead_ticks, overhead_cpu_ns).
 *
 * Context: between store_begin and store_end. */
#ifndef OWN_TIME_H
#define OWN_TIME_H

#include "record/store.h"

/* Set the time that was measured by calls of this process, and write it to the file (`store` NULL: there is none):
 * `ticks` from exit to entry, `cpu_ns` the same by the readings of CPU time (0: it is not read). Looks at stacks before
 * this belong to the measurement. An error of writing is ignored: own_time_tell writes again. */
void own_time_measured(struct store *store, uint64_t ticks, uint64_t cpu_ns);

/* Update the file where the program's stacks take longer to recognize than those of the measurement: it then says the
 * mean of all until now. Returns 0 or errno. */
int own_time_tell(struct store *store);

#endif
