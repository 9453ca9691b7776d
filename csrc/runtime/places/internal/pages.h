/* Memory straight from the kernel: a call may come from a signal handler that interrupted malloc. */
#ifndef PAGES_H
#define PAGES_H

#include <stddef.h>

/* Make `from` bytes of memory `to` bytes, with zeros behind the old ones; `old` NULL: new memory. Returns NULL if there
 * is none; then `old` stays. Context: any thread, signal handlers, no lock (mmap). */
void *pages_grown(void *old, size_t from, size_t to);

/* Give memory back.
 * Context: as pages_grown. */
void pages_free(void *memory, size_t bytes);

#endif
