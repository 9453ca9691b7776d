#define _GNU_SOURCE
#include "places/internal/readable.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NO_SUCH_WAY = -1, MASK_BYTES = 8, LEAST_PAGE = 4096 };

/* The kernel reads the new mask of signals before it finds that there is no such way to set it: EINVAL, not EFAULT. */
static bool readable_word(uintptr_t at)
{
    return syscall(SYS_rt_sigprocmask, NO_SUCH_WAY, at & ~(uintptr_t)(MASK_BYTES - 1), NULL, MASK_BYTES) < 0 &&
           errno == EINVAL;
}

bool readable(const void *at, size_t bytes)
{
    int before = errno;
    uintptr_t first = (uintptr_t)at, last = first + bytes - 1;
    bool can = bytes && first >= LEAST_PAGE && last >= first && readable_word(first) && readable_word(last);
    for (uintptr_t page = first | (LEAST_PAGE - 1); can && page < last; page += LEAST_PAGE) can = readable_word(page);
    errno = before;
    return can;
}
