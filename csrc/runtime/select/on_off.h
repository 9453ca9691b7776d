/* Selection of what is recorded and when: tracing on and off, and calls by their class. Nothing of this is on the path
 * of a call as long as a thread's `mode` is 0. */
#ifndef ON_OFF_H
#define ON_OFF_H

#include <stdbool.h>
#include <stddef.h>

#include "record/thread.h"

/* Read the environment, before the first record. */
void switch_start(void);

/* MPI_Init has returned: delay and duration begin. */
void switch_start_clock(void);

/* Is the process's recording off? Between store_begin and store_end. */
bool switch_is_off(void);

/* The mode in which a new thread begins. Between store_begin and store_end. */
int switch_first_mode(void);

/* Does the process record calls now? Between store_begin and store_end. */
bool switch_is_on(void);

/* A thread with a mode stores a call that entered then: is its state the process's? Its changes become events. */
void switch_settle(struct thread *t, uint64_t enter);

/* Is the row recorded? If not, it is counted. The rows of calls settle their thread, no others. */
bool switch_keeps_call(struct thread *t, const struct file_call *row);
bool switch_keeps_request(struct thread *t, const struct file_request *row, uint16_t call);
bool switch_keeps_access(struct thread *t, uint64_t enter);
bool switch_keeps_poll(struct thread *t, uint16_t call, uint64_t enter, uint64_t exit);

/* A region of the program begins or ends on this thread; number 0 ends the innermost. */
void switch_region_begin(struct thread *t, uint32_t number, const char *name, size_t length);
void switch_region_end(struct thread *t, uint32_t number);

/* The program switches tracing on or off, as of that time (ticks); threads follow at their next row. */
void switch_by_program(bool on, uint64_t ticks);

/* The calling thread follows at once; it may have recorded nothing yet. */
void switch_settle_self(uint64_t ticks);

/* The thread ends, with all of its regions. */
void switch_leave(struct thread *t);

/* Make runs of what this thread has counted while off, as far as is certain now. */
void switch_join(struct thread *t);

/* The thread's last buffer is about to be written. Between store_begin and store_end. */
void switch_close(struct thread *t);

#endif
