/* Calls that are not wanted one by one (TRACELIB_CALLS, TRACELIB_BURSTS): rows of `summaries` in their place. */
#ifndef WANTED_CALLS_H
#define WANTED_CALLS_H

#include <stdbool.h>

#include "record/thread.h"

/* Read the environment. */
void choice_start(void);

/* Are any calls summed up? */
bool choice_made(void);

/* Is the row recorded? If not, it is summed up. */
bool choice_keeps_call(struct thread *t, const struct file_call *row);
bool choice_keeps_request(struct thread *t, const struct file_request *row, uint16_t call);
bool choice_keeps_poll(struct thread *t, uint16_t call, uint64_t enter, uint64_t exit);

/* The next call that is summed up begins a new row. */
void choice_interrupt(struct thread *t);

#endif
