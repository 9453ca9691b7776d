#ifndef WINDOW_H
#define WINDOW_H
/* A stretch of packed operations in memory, of those that lie in memory or in a file. */

#include <stdbool.h>
#include <stddef.h>

#include "replay.h"

/* Bytes of the buffer of each of so many streams. */
size_t window_bytes(int32_t streams);

/* More bytes behind what of the buffer was not unpacked yet, [*at, *stop), which goes to its begin. `position` is where
   in the packed operations what comes next stands. Behind the last ones PACK_MOST bytes of zeros can be read, beyond
   `room`. false: there are no more, or they cannot be read. */
bool window_fill(const struct program *program, uint8_t *buffer, size_t room, const uint8_t **at, const uint8_t **stop,
                 int64_t *position);

#endif
