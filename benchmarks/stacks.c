// Cost of calls from below many callers: `stacks same|new-stack|new-path|many CALLERS BATCHES CALLS`. Calls come from
// one stack; from stacks that differ in the room between two callers; from paths that have not been there before; from
// as many paths as calls, the same in each batch. Prints one line for each batch: nanoseconds a call.

#include <alloca.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MANY_CALLERS = 20 };

static int calls;
static unsigned long path; // its bits say where a function is called from

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void work(int n)
{
    int value = 0;
    for (int i = 0; i < n; i++) MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

// The text behind the call keeps it from being a jump.
static __attribute__((noinline)) void deeper(int callers, int n)
{
    if (callers > 2)
        deeper(callers - 1, n);
    else
        work(n);
    __asm__ volatile("");
}

static __attribute__((noinline)) void with_room(int callers, int bytes)
{
    volatile char *room = alloca(bytes);
    room[0] = 0;
    deeper(callers - 1, 1);
    __asm__ volatile("");
}

static __attribute__((noinline)) void choose(int callers)
{
    if (callers <= 1)
        work(1);
    else if (path >> callers & 1)
        choose(callers - 1);
    else {
        choose(callers - 1);
        __asm__ volatile("# the other call");
    }
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    if (argc != 5) return 2;
    int callers = atoi(argv[2]), batches = atoi(argv[3]);
    double *spent = malloc(batches * sizeof *spent);
    calls = atoi(argv[4]);
    MPI_Init(&argc, &argv);
    deeper(callers, calls);
    for (int i = 0; i < batches; i++) {
        double start = now_ns();
        if (strcmp(argv[1], "same") == 0) deeper(callers, calls);
        if (strcmp(argv[1], "new-stack") == 0)
            for (int k = 0; k < calls; k++) with_room(callers, 16 * (i * calls + k + 1));
        if (strcmp(argv[1], "new-path") == 0)
            for (int k = 0; k < calls; k++, path += 4) choose(callers);
        if (strcmp(argv[1], "many") == 0)
            for (path = 0; path < 4ul * calls; path += 4) choose(MANY_CALLERS);
        spent[i] = (now_ns() - start) / calls;
    }
    for (int i = 0; i < batches; i++) printf("%.3f\n", spent[i]);
    free(spent);
    MPI_Finalize();
    return 0;
}
