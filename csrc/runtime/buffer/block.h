/* What waits in a thread's buffer, and its way into the file: as a block, or counted where the limit leaves no room.
 * Between store_begin and store_end. */
#ifndef BLOCK_H
#define BLOCK_H

#include "record/thread.h"

/* The rows of a buffer that are complete and not in the file. Its thread may be adding more. */
struct waiting {
    uint64_t first[BUFFERED_TABLES], end[BUFFERED_TABLES];
    uint64_t rows, calls;
};
struct waiting block_waiting(const struct thread *t);
uint64_t block_bytes(const struct waiting *w);

/* Write what waits, with the event that says since when (ticks). `closing`: the run ends, and any thread does it. */
void block_write(struct thread *t, uint64_t begin, bool closing);

#endif
