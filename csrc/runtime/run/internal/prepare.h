/* Before the first record. */
#ifndef PREPARE_H
#define PREPARE_H

#include <stdbool.h>

/* Read the environment, once. Returns false if this process is not traced, or libc has not started yet (early.h).
 * Context: any thread: the first one prepares, the others wait (pthread_once). */
bool run_prepare(void);

/* True if the user does not want tracing (TRACELIB_DISABLE).
 * Context: any thread, no lock. */
bool run_is_disabled(void);

/* True if this process is the one that was prepared. A child made without fork() runs no handler of ours.
 * Context: any thread, signal handlers, no lock. */
bool run_is_own_process(void);

#endif
