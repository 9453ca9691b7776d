#include <sched.h>
#include <time.h>

#include "seconds.h"

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void seconds_wait(double wait_s)
{
    double end = seconds_now() + wait_s;
    while (seconds_now() < end) sched_yield();
}
