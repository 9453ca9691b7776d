/* Reads all bytes of a part of a file, or none. */
#ifndef READ_WHOLE_H
#define READ_WHOLE_H

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

/* Read `bytes` bytes from offset `at` of the file. Returns 1 when done; 0: the file ends before; -1: errno has the
   cause. */
static inline int read_whole(int fd, void *into, uint64_t bytes, int64_t at)
{
    for (uint64_t done = 0; done < bytes;) {
        ssize_t more = pread(fd, (char *)into + done, bytes - done, (off_t)(at + (int64_t)done));
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) return more ? -1 : 0;
        done += (uint64_t)more;
    }
    return 1;
}

#endif
