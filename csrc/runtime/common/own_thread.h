/* Threads of the library beside those of the program. */
#ifndef OWN_THREAD_H
#define OWN_THREAD_H

#include <pthread.h>

extern const char own_thread_name[]; /* of each, as the kernel and debuggers show it */

/* Start a thread of ours with all signals blocked, so that no signal of the program is delivered to it. Returns 0 or
 * the error of pthread_create.
 * Context: any thread, no lock; not in a signal handler. */
int own_thread_start(pthread_t *thread, void *(*run)(void *));

#endif
