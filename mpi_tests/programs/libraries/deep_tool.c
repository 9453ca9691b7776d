/* Another tool for MPI that is preloaded ahead of the tracer and calls on by dlsym(RTLD_NEXT) from a function of its
 * own, in the file of which it may be the last call, or not. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

static int calls;
static int (*begin)(int *, char ***), (*barrier)(MPI_Comm), (*broadcast)(void *, int, MPI_Datatype, int, MPI_Comm);

static void __attribute__((noinline)) look_up(void)
{
    begin = (int (*)(int *, char ***))dlsym(RTLD_NEXT, "MPI_Init");
    barrier = (int (*)(MPI_Comm))dlsym(RTLD_NEXT, "MPI_Barrier");
    broadcast = (int (*)(void *, int, MPI_Datatype, int, MPI_Comm))dlsym(RTLD_NEXT, "MPI_Bcast");
}

static int __attribute__((noinline)) pass_and_count(MPI_Comm comm)
{
    int error = barrier(comm);
    calls++;
    return error;
}

static int __attribute__((noinline)) pass_on(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    int error = broadcast(data, n, type, root, comm);
    calls++;
    return error;
}

int MPI_Init(int *argc, char ***argv)
{
    look_up();
    return begin(argc, argv);
}

int MPI_Barrier(MPI_Comm comm)
{
    int error = pass_and_count(comm);
    calls++;
    return error;
}

int MPI_Bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    return pass_on(data, n, type, root, comm); /* a jump */
}
