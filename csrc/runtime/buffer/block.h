/* Rows that wait in a thread's buffer, and their way into the file: as a block, or only counted where the limit leaves
 * no room.
 *
 * Context: between store_begin and store_end. Any thread may look at another's buffer: counts are read with acquire. */
#ifndef BLOCK_H
#define BLOCK_H

#include "record/thread.h"

/* The rows of a buffer that are complete and not in the file. Its thread may be adding more. */
struct waiting {
    uint64_t first[BUFFERED_TABLES], end[BUFFERED_TABLES];
    uint64_t rows, calls;
};

/* Count the rows of a thread that are complete and not in the file. */
struct waiting block_waiting(const struct thread *t);

/* Return the bytes that these rows take in the file without filters. */
uint64_t block_bytes(const struct waiting *w);

/* Write the waiting rows as one block, with a flush event that begins at `begin` (ticks), and empty the buffer. Rows
 * that the disk does not take are counted as lost; the limit may leave all of them out. `closing`: the run ends, and
 * any thread may do it for any other; otherwise only the thread itself. */
void block_write(struct thread *t, uint64_t begin, bool closing);

#endif
