/* Samples that the kernel takes (perf_event_open, CPU time of a thread): registers and the lower part of the stack. The
 * thread does nothing, and gets no signal. */
#ifndef BY_PERF_H
#define BY_PERF_H

#include "sampling/internal/task.h"

/* Once. NULL, or why it is not possible here. */
const char *by_perf_prepare(void);

/* From here on the thread is sampled. False: it cannot be. */
bool by_perf_open(struct task *t, uint64_t period_ns);

/* Each row that was sampled since the last time. */
void by_perf_take(struct task *t, void (*take)(struct task *t, const struct file_sample *row));

/* No sample comes any more; what is there can still be taken. */
void by_perf_stop(struct task *t);
void by_perf_close(struct task *t);

#endif
