/* Samples by timers of the threads' CPU time. */
#ifndef BY_SIGNAL_H
#define BY_SIGNAL_H

#include "sampling/internal/task.h"

/* Before the first thread, and each so often: our handler is in place, where another one may have been set. NULL, or
 * why it cannot be. */
const char *by_signal_look(void);

/* From here on the thread is sampled. False: it cannot be. */
bool by_signal_open(struct task *t, uint64_t period_ns);

/* Each row that was sampled since the last time. */
void by_signal_take(struct task *t, void (*take)(struct task *t, const struct file_sample *row));

/* No sample comes any more; what is there can still be taken. */
void by_signal_stop(struct task *t);
void by_signal_close(struct task *t);

#endif
