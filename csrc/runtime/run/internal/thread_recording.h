/* Begin and end of a thread's recording: it ends with the thread or with the run.
 *
 * Context: not between store_begin and store_end: these take that lock. */
#ifndef THREAD_RECORDING_H
#define THREAD_RECORDING_H

#include "record/thread.h"

/* Give the calling thread a buffer, and add it to the list. Returns false if there are too many threads or no memory.
 */
bool thread_join(struct thread *t);

/* Give the calling thread, which is ours, the buffer of SAMPLER_THREAD's rows: all of them are events. Returns false as
 * thread_join. */
bool thread_join_as_sampler(void);

/* Write all rows that any thread still holds to the file: MPI_Finalize, exit. Returns false if exit was called by a
 * signal handler in the middle of a flush: then all stays as after a kill. The threads may go on recording meanwhile.
 */
bool threads_close(void);

#endif
