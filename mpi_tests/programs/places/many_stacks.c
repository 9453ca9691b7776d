// Calls from STACKS different call paths of one depth, ROUNDS times: bits say which of two calls each function makes.
// Prints the least nanoseconds that a path takes with no call at its end.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DEPTH = 24, QUIET_ROUNDS = 50, QUIET_PATHS = 100 };

static __attribute__((noinline)) void choose(int depth, unsigned long path, int quiet)
{
    int value = 0;
    if (depth == 0) {
        if (!quiet) MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    } else if (path & 1)
        choose(depth - 1, path >> 1, quiet);
    else {
        choose(depth - 1, path >> 1, quiet);
        __asm__ volatile("# the other call");
    }
    __asm__ volatile(""); // no call is a jump
}

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static double quiet_path_ns(unsigned long stacks)
{
    double least = 1e9;
    for (int round = 0; round < QUIET_ROUNDS; round++) {
        double begin = now_ns();
        for (unsigned long path = 0; path < QUIET_PATHS; path++) choose(DEPTH, stacks ? path % stacks : 0, 1);
        double each = (now_ns() - begin) / QUIET_PATHS;
        if (each < least) least = each;
    }
    return least;
}

int main(int argc, char **argv)
{
    unsigned long stacks = argc > 1 ? strtoul(argv[1], NULL, 10) : 0,
                  rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    MPI_Init(&argc, &argv);
    for (unsigned long round = 0; round < rounds; round++)
        for (unsigned long path = 0; path < stacks; path++) choose(DEPTH, path, 0);
    printf("%.2f\n", quiet_path_ns(stacks));
    MPI_Finalize();
    return 0;
}
