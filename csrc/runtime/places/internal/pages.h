/* Memory straight from the kernel: a call may come from a signal handler that interrupted malloc. */
#ifndef PAGES_H
#define PAGES_H

#include <stddef.h>

/* `from` bytes of memory as `to`, behind them zeros; `old` NULL: new memory. NULL: there is none, and `old` stays. */
void *pages_grown(void *old, size_t from, size_t to);

void pages_free(void *memory, size_t bytes);

#endif
