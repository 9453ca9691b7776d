#define _GNU_SOURCE
#include "sampling/internal/task.h"

#include <time.h>

enum { OF_A_THREAD = 4, SCHEDULED = 2 };

/* As the kernel makes it (include/linux/posix-timers.h): clock_getcpuclockid knows processes only, and
 * pthread_getcpuclockid wants a thread that is still there. */
int task_clock(int32_t tid)
{
    return (int)(~(unsigned)tid << 3 | OF_A_THREAD | SCHEDULED);
}

bool task_cpu_ns(int32_t tid, uint64_t *ns)
{
    struct timespec now;
    if (clock_gettime(task_clock(tid), &now)) return false;
    *ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    return true;
}
