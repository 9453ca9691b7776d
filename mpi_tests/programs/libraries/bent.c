// Preloaded, it bends the CLOCK_MONOTONIC of odd ranks: ahead and behind by 100 us, a wave a second.
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *t)
{
    static int odd = -1;
    int result = syscall(SYS_clock_gettime, clock, t);
    if (odd < 0) {
        const char *rank = getenv("OMPI_COMM_WORLD_RANK");
        if (!rank) rank = getenv("PMI_RANK");
        odd = rank ? atoi(rank) % 2 : 0;
    }
    if (result || clock != CLOCK_MONOTONIC || !odd) return result;
    int64_t ns = t->tv_sec * INT64_C(1000000000) + t->tv_nsec;
    ns += (int64_t)(1e5 * sin(2 * M_PI * (double)(ns % 1000000000) / 1e9));
    t->tv_sec = ns / 1000000000;
    t->tv_nsec = ns % 1000000000;
    return 0;
}
