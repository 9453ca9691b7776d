/* The kernel's view of this process's threads. */
#ifndef TASKS_H
#define TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the kernel cannot say. */
#define TASK_NOT_KNOWN UINT64_MAX

/* Call `visit` for each thread of the process, in no order. A thread that begins or ends meanwhile may be missed.
 * False: /proc cannot be read. Any thread. */
bool tasks_each(void (*visit)(int32_t tid, void *data), void *data);

/* For how long, in ns since the thread `tid` began, it could have run and waited for a CPU: the kernel's run delay.
 * TASK_NOT_KNOWN: the thread has ended, or the kernel does not count it (CONFIG_SCHED_INFO). Opens a file of /proc for
 * the moment: about 5 us. Any thread. */
uint64_t task_run_delay_ns(int32_t tid);

/* The CPU time of a thread in ns since it began. False: it has ended. */
bool task_cpu_ns(int32_t tid, uint64_t *ns);

/* The clock that says it, for clock_gettime and timer_create. */
int task_clock(int32_t tid);

/* Text of a file of /proc/self/task/TID, with a zero behind it; empty: it cannot be read. */
void task_text(int32_t tid, const char *file, char *text, size_t room);

/* CPUs that a thread of this process may use (0: the calling one), as "0-3,8"; "" if not known, "..." at the end if
 * there is no room for all. */
void task_cpus(int32_t tid, char *text, size_t room);

#endif
