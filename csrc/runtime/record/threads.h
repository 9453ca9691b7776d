/* All threads that record in this process.
 *
 * Context: between store_begin and store_end, where nothing else is said: that lock guards the list. */
#ifndef THREADS_H
#define THREADS_H

#include "record/thread.h"

/* Take the number of a new thread of the program. Returns false if there are no more. */
bool threads_number(uint32_t *number);

/* Add a thread that has a spool to the list. */
void threads_add(struct thread *t);

/* Remove a thread from the list, and add its counts to threads_gone. */
void threads_remove(struct thread *t);

/* Put `left_behind`, the copy that a thread leaves when it ends, into the thread's place in the list. */
void threads_replace(struct thread *t, struct thread *left_behind);

/* Call `visit` for each thread of the list. The threads go on meanwhile: see struct thread. */
void threads_each(void (*visit)(struct thread *t, void *data), void *data);

/* Add bits to the mode of all threads (atomic or; a thread sees them at its next row). */
void threads_set_mode(int mode);

/* Count calls of thread `index` that were dropped from the file. */
void threads_left_out(uint32_t index, uint64_t calls);

/* Count a call of a thread without a buffer.
 * Context: any thread, signal handlers, no lock, also before the library may be used (early.h). */
void threads_count_without_buffer(void);

struct totals {
    uint64_t calls, lost_calls, lost_rows, left_out_calls;
    uint64_t waiting_bytes; /* in buffers */
};

/* Return the sums over threads that have ended, and calls without a buffer. */
struct totals threads_gone(void);

/* Write into every spool, present and future, to which rank file its rows belong; "": to the one that names the spool.
 */
void threads_name_file(const char *path);

/* Remove the files of all spools: all their rows are in the rank file. */
void threads_remove_spools(void);

/* Shut the gates of all threads: none is recorded from here on.
 * Context: any thread, not between store_begin and store_end (it takes that lock). */
void threads_shut(void);

/* Forget all threads and reset the lock: in a forked child the buffers and the file are the parent's.
 * Context: the handler of pthread_atfork in the child, its only thread. */
void threads_disown(void);

#endif
