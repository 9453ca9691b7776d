/* Computes the same again and again, at two depths of the stack. Prints for each batch the CPU time of this thread,
 * that of all others of the process, and the time that passed. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile double sink;

static void __attribute__((noinline)) kernel(long n)
{
    double s = 0;
    for (long i = 1; i <= n; i++) s += 1.0 / (double)i;
    sink = s;
}

static void __attribute__((noinline)) deeper(long n, int depth)
{
    if (depth)
        deeper(n, depth - 1);
    else
        kernel(n);
    sink += 1;
}

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    int batches = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < batches; i++) {
        double passed = seconds(CLOCK_MONOTONIC), all = seconds(CLOCK_PROCESS_CPUTIME_ID);
        double own = seconds(CLOCK_THREAD_CPUTIME_ID);
        for (int round = 0; round < 50; round++) {
            kernel(1000000);
            deeper(1000000, 20);
        }
        own = seconds(CLOCK_THREAD_CPUTIME_ID) - own;
        all = seconds(CLOCK_PROCESS_CPUTIME_ID) - all;
        printf("%.9f %.9f %.9f\n", own, all - own, seconds(CLOCK_MONOTONIC) - passed);
    }
    return 0;
}
