/* Threads of the library beside those of the program. */
#ifndef OWN_THREAD_H
#define OWN_THREAD_H

#include <pthread.h>

extern const char own_thread_name[]; /* of each, as the kernel and debuggers show it */

/* Starts a thread to which no signal of the program is delivered. 0 or errno. */
int own_thread_start(pthread_t *thread, void *(*run)(void *));

#endif
