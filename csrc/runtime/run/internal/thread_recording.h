/* A thread's recording begins, and ends with the thread or with the run. */
#ifndef THREAD_RECORDING_H
#define THREAD_RECORDING_H

#include "record/thread.h"

/* The calling thread gets a buffer. False: there is no room for another thread. */
bool thread_join(struct thread *t);

/* The calling thread is none of the program's: it keeps SAMPLER_THREAD's rows, of which all are events. */
bool thread_join_as_sampler(void);

/* Everything that any thread still holds goes to the file: MPI_Finalize, exit. False: exit was called by a signal
 * handler in the middle of a flush; all stays as after a kill. */
bool threads_close(void);

#endif
