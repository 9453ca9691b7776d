/* Packed operations come from memory or a file through a small buffer of each stream: what was replayed and what is to
   come take no memory of ours. */
#include "packed/window.h"

#include <string.h>
#include <unistd.h>

#include "packed/format.h"

enum { ALL_BUFFERS = 2 << 20, LEAST_OF_ONE = 1024, MOST_OF_ONE = 65536 }; /* bytes */

size_t window_bytes(int32_t streams)
{
    size_t bytes = ALL_BUFFERS / (size_t)(streams ? streams : 1);
    return bytes < LEAST_OF_ONE ? LEAST_OF_ONE : bytes > MOST_OF_ONE ? MOST_OF_ONE : bytes;
}

static bool read_file(int file, uint8_t *into, size_t bytes, int64_t at)
{
    while (bytes) {
        ssize_t count = pread(file, into, bytes, at);
        if (count <= 0) return false;
        into += count;
        at += count;
        bytes -= (size_t)count;
    }
    return true;
}

static bool read_packed(const struct program *program, uint8_t *into, size_t bytes, int64_t at)
{
    if (program->file >= 0) return read_file(program->file, into, bytes, at);
    memcpy(into, program->packed + at, bytes);
    return true;
}

bool window_fill(const struct program *program, uint8_t *buffer, size_t room, const uint8_t **at, const uint8_t **stop,
                 int64_t *position)
{
    size_t left = (size_t)(*stop - *at);
    int64_t behind = program->packed_bytes - *position;
    size_t n = behind < (int64_t)(room - left) ? (size_t)behind : room - left;
    memmove(buffer, *at, left);
    if (!n || !read_packed(program, buffer + left, n, *position)) return false;
    *position += (int64_t)n;
    *at = buffer;
    *stop = buffer + left + n;
    if (*position == program->packed_bytes) {
        memset(buffer + left + n, 0, PACK_MOST);
        *stop += PACK_MOST;
    }
    return true;
}
