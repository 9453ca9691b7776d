/* When a thread had no CPU, and whether it slept then or waited for one: events of the types OFF_CPU and RUN_DELAY.
 *
 * Who has no CPU for long is in a long computation or a long call. So a thread looks at the end of each that took half
 * a millisecond or more: at its CPU time (0.6 us), and at the kernel's run delay (6 us) only if it has been without a
 * CPU for a while since it looked last. Shorter ones are looked at together, when the buffer is written.
 *
 * All of this but the last is for the thread itself, and for no signal handler. */
#ifndef OFF_CPU_H
#define OFF_CPU_H

#include "record/thread.h"

/* Least length of a long computation or call, in ticks. */
extern uint64_t off_cpu_long;

/* Before a thread's first call is recorded: it is looked at from here on, the process's first one from the start of the
 * process on. Fills in both events. */
void off_cpu_begin(struct thread *t, struct file_event events[2]);

/* A long computation or call has ended, or the buffer was written; `where` is an enum offcpu. Fills in both events but
 * for their time, and returns true where the thread was without a CPU for long enough since its events before. */
bool off_cpu_look(struct thread *t, uint16_t where, struct file_event events[2]);

/* The buffer is closed at `time`: the events of all that was not looked at. False: there is nothing. */
bool off_cpu_last(struct thread *t, uint64_t time, struct file_event events[2]);

/* For any thread: how many events of both types the process has made. */
uint64_t off_cpu_events(void);

#endif
