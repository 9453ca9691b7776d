/* What the tracer itself takes between two calls, as the rank file says it (overhead_ticks, overhead_cpu_ns). */
#ifndef OWN_TIME_H
#define OWN_TIME_H

#include "record/store.h"

/* It was measured by calls of this process: `ticks` from exit to entry, `cpu_ns` the same by the readings of CPU time
 * (0: it is not read). Looks at stacks before this belong to the measurement. Between store_begin and store_end. */
void own_time_measured(struct store *store, uint64_t ticks, uint64_t cpu_ns);

/* The program's stacks may take longer to recognize than those of the measurement: the file says the mean of all until
 * now. Between store_begin and store_end. 0 or errno. */
int own_time_tell(struct store *store);

#endif
