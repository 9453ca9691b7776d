/* The kernel's view of this process's threads. */
#ifndef TASKS_H
#define TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stands for a value that the kernel does not tell. */
#define TASK_NOT_KNOWN UINT64_MAX

/* Call `visit` for each thread of the process, in no order. A thread that begins or ends meanwhile may be missed.
 * Returns false if /proc cannot be read.
 * Context: any thread, no lock; not in a signal handler (opendir). */
bool tasks_each(void (*visit)(int32_t tid, void *data), void *data);

/* Return the kernel's run delay of a thread: ns since it began in which it could have run and waited for a CPU.
 * TASK_NOT_KNOWN: the thread has ended, or the kernel does not count it (CONFIG_SCHED_INFO). Opens a file of /proc for
 * the moment: about 5 us.
 * Context: any thread, no lock. */
uint64_t task_run_delay_ns(int32_t tid);

/* Read the CPU time of a thread in ns since it began. Returns false if the thread has ended.
 * Context: any thread, no lock. */
bool task_cpu_ns(int32_t tid, uint64_t *ns);

/* Return the number of the clock of a thread's CPU time, for clock_gettime and timer_create.
 * Context: any thread, no lock. */
int task_clock(int32_t tid);

/* Read a file of /proc/self/task/TID into `text`, with a zero behind it; empty if it cannot be read.
 * Context: any thread, no lock. */
void task_text(int32_t tid, const char *file, char *text, size_t room);

/* Write the CPUs that a thread of this process may use (`tid` 0: the calling one) as "0-3,8"; "" if not known, "..." at
 * the end if there is no room for all.
 * Context: any thread, no lock; not in a signal handler (malloc). */
void task_cpus(int32_t tid, char *text, size_t room);

#endif
