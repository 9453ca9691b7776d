// Calls from STACKS different call paths of one depth, ROUNDS times: bits say which of two calls each function makes.

#include <mpi.h>
#include <stdlib.h>

enum { DEPTH = 24 };

static __attribute__((noinline)) void choose(int depth, unsigned long path)
{
    int value = 0;
    if (depth == 0)
        MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    else if (path & 1)
        choose(depth - 1, path >> 1);
    else {
        choose(depth - 1, path >> 1);
        __asm__ volatile("# the other call");
    }
    __asm__ volatile(""); // no call is a jump
}

int main(int argc, char **argv)
{
    unsigned long stacks = argc > 1 ? strtoul(argv[1], NULL, 10) : 0,
                  rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    MPI_Init(&argc, &argv);
    for (unsigned long round = 0; round < rounds; round++)
        for (unsigned long path = 0; path < stacks; path++) choose(DEPTH, path);
    MPI_Finalize();
    return 0;
}
