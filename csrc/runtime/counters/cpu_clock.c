/* CPU_NS: the time that the thread has had a CPU, in ns, from its beginning. */
#define _GNU_SOURCE
#include <string.h>
#include <time.h>

#include "counters/counters.h"

static char handle; /* the clock is the calling thread's own */

static const char *cpu_clock_find(struct counter *c)
{
    c->type = CPU_TIME_TYPE;
    return NULL;
}

static void *cpu_clock_begin(const struct counter *counters, unsigned n, const char **why)
{
    struct timespec t;
    (void)counters;
    *why = n > 1 ? "is there twice" : "the thread's CPU clock cannot be read";
    return n == 1 && clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0 ? &handle : NULL;
}

static bool take_clock(clockid_t clock, uint64_t *values)
{
    struct timespec t;
    if (clock_gettime(clock, &t)) return false;
    *values = (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
    return true;
}

static bool cpu_clock_take(void *unused, uint64_t *values)
{
    (void)unused;
    return take_clock(CLOCK_THREAD_CPUTIME_ID, values);
}

/* linux/posix-timers.h: the clock of a thread by its number, as pthread_getcpuclockid makes it of a pthread_t. */
static bool cpu_clock_take_other(void *unused, pid_t tid, uint64_t *values)
{
    enum { THREAD_SCHEDULED = 6 };
    (void)unused;
    return take_clock((clockid_t)(~(unsigned)tid << 3 | THREAD_SCHEDULED), values);
}

static void cpu_clock_end(void *unused)
{
    (void)unused;
}

const struct backend cpu_clock_backend = {cpu_clock_find, cpu_clock_begin, cpu_clock_take, cpu_clock_take_other,
                                          cpu_clock_end};
