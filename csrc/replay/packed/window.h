#ifndef WINDOW_H
#define WINDOW_H
/* A stretch of packed operations in memory, of those that lie in memory or in a file. */

#include <stdbool.h>
#include <stddef.h>

#include "replay.h"

/* Return the size of a stream's buffer in bytes, where there are `streams` streams. */
size_t window_bytes(int32_t streams);

/* Fill the buffer. The bytes that are not unpacked yet, [*at, *stop), move to its begin, and the next bytes follow.
   *position: offset of the next bytes in the packed operations; it is advanced. Behind the last operation PACK_MOST
   bytes of zeros can be read, beyond `room`. Returns false if there are no more bytes, or they cannot be read. */
bool window_fill(const struct program *program, uint8_t *buffer, size_t room, const uint8_t **at, const uint8_t **stop,
                 int64_t *position);

#endif
