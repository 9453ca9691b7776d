/* All threads that record in this process. Between store_begin and store_end, where nothing else is said. */
#ifndef THREADS_H
#define THREADS_H

#include "record/thread.h"

/* The number of a new thread of the program. False: there are no more. */
bool threads_number(uint32_t *number);

/* A thread that has a spool records; it does no longer, and its counts are added to threads_gone. */
void threads_add(struct thread *t);
void threads_remove(struct thread *t);

/* What a thread leaves behind in memory takes its place. */
void threads_replace(struct thread *t, struct thread *left_behind);

void threads_each(void (*visit)(struct thread *t, void *data), void *data);

/* Add to the mode of all threads. */
void threads_set_mode(int mode);

/* Calls of a thread's block were dropped from the file. */
void threads_left_out(uint32_t index, uint64_t calls);

/* A call was made by a thread without a buffer. By any thread, also before the library may be used (early.h). */
void threads_count_without_buffer(void);

struct totals {
    uint64_t calls, lost_calls, lost_rows, left_out_calls;
    uint64_t waiting_bytes; /* in buffers */
};

/* Sums over threads that have ended, and calls without a buffer. */
struct totals threads_gone(void);

/* Every spool, present and future, says in which rank file its rows belong; "": in that which names the spool. */
void threads_name_file(const char *path);

/* Nobody finds the spools any more: the file says that all is there. */
void threads_remove_spools(void);

/* No thread is recorded from here on. Not between store_begin and store_end. */
void threads_shut(void);

/* In a forked child: the buffers and the file are the parent's. */
void threads_disown(void);

#endif
