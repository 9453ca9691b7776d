/* When the process started: the first stamp of all. */
#ifndef START_H
#define START_H

#include <stdint.h>

#include "schema.h"

struct start {
    struct file_clock clock;
    int64_t realtime_ns; /* since 1970, at the same moment */
    int64_t cpu_ns;      /* CPU time, at that moment, of the thread that looked */
};

/* Choose the clock and read it, once, and return what was read. The first call is made when the library is loaded, or
 * before that from the constructor of another library or a thread that one has started. No stamp lies before it.
 * Context: any thread (pthread_once); not in a signal handler. */
const struct start *start_of_process(void);

#endif
