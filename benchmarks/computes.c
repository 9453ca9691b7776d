/* Computes the same again and again, at two depths of the stack, and prints the CPU time of all threads of the process
 * for each batch. */
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

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    int batches = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < batches; i++) {
        double begin = cpu_s();
        for (int round = 0; round < 50; round++) {
            kernel(1000000);
            deeper(1000000, 20);
        }
        printf("%.9f\n", cpu_s() - begin);
    }
    return 0;
}
