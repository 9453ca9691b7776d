/* Before the first record. */
#ifndef PREPARE_H
#define PREPARE_H

#include <stdbool.h>

/* Read the environment, once. False: this process is not traced, or it is too early for that. */
bool run_prepare(void);

/* Does the user not want tracing (TRACELIB_DISABLE)? */
bool run_is_disabled(void);

/* Is this the memory of the process that was prepared? A child made without fork() runs no handler of ours. */
bool run_is_own_process(void);

#endif
