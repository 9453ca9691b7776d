/* Small files that are not in memory, read ahead. */
#define _GNU_SOURCE
#include "hdf5/internal/prefetch.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SMALL = 1 << 20 };      /* bytes; the tables of larger files are read where they are wanted */
enum { NO_WAIT = 0x00000008 }; /* RWF_NOWAIT of preadv2(2), which older C libraries do not have */

/* Whether a file's first byte is there without waiting; where nobody can tell, it is not. */
static bool is_in_memory(int fd)
{
    char first;
    struct iovec into = {&first, 1};
    return syscall(SYS_preadv2, fd, &into, 1, 0L, 0L, NO_WAIT) == 1;
}

/* Holes are left out: read ahead, they would take memory as data do. */
void prefetch_small(int fd, uint64_t bytes)
{
    off_t at = 0, end = (off_t)bytes;
    if (bytes > SMALL || is_in_memory(fd)) return;
    while (at < end && (at = lseek(fd, at, SEEK_DATA)) >= 0) {
        off_t hole = lseek(fd, at, SEEK_HOLE);
        if (hole <= at || posix_fadvise(fd, at, hole - at, POSIX_FADV_WILLNEED)) return;
        at = hole;
    }
}
