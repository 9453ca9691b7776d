/* When the process started: the first stamp of all. */
#ifndef START_H
#define START_H

#include <stdint.h>

#include "schema.h"

struct start {
    struct file_clock clock;
    int64_t realtime_ns; /* since 1970, at the same moment */
    int64_t cpu_ns;      /* that the thread that looked had had a CPU for */
};

/* Chooses the clock and looks at it, once: when the library is loaded, or at a call that comes before, from the
 * constructor of another library or a thread that one has started. No stamp lies before it. */
const struct start *start_of_process(void);

#endif
