/* Another tool for MPI, preloaded or linked beside the tracer: counts four procedures and says at MPI_Finalize how
 * often each rank called them. -DNEXT: calls are passed on by dlsym(RTLD_NEXT), and not to PMPI_. -DCALLS: it calls
 * MPI_Comm_rank and MPI_Type_size itself, and by a handle of libmpi (HANDLE) MPI_Comm_size; they are not the program's
 * calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int sends, barriers, reductions;

#ifdef NEXT
#define PASS(name, ...)                                                                                                \
    ({                                                                                                                 \
        static int (*next)();                                                                                          \
        if (!next) next = (int (*)())dlsym(RTLD_NEXT, "MPI_" #name);                                                   \
        next(__VA_ARGS__);                                                                                             \
    })
#else
#define PASS(name, ...) PMPI_##name(__VA_ARGS__)
#endif

static void look(MPI_Comm comm)
{
#ifdef CALLS
    int size = 0, other = 0, bytes = 0, rank = 0;
    void *mpi = dlopen(HANDLE, RTLD_LAZY | RTLD_NOLOAD);
    int (*by_handle)(MPI_Comm, int *) = (int (*)(MPI_Comm, int *))dlsym(mpi, "MPI_Comm_size");
    by_handle(comm, &size);
    PMPI_Comm_size(comm, &other);
    MPI_Type_size(MPI_INT, &bytes);
    MPI_Comm_rank(comm, &rank);
    if (size != other || bytes != sizeof(int)) fprintf(stderr, "wrong\n");
#else
    (void)comm;
#endif
}

int MPI_Init(int *argc, char ***argv)
{
    return PASS(Init, argc, argv);
}

int MPI_Send(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    sends++;
    look(comm);
    return PASS(Send, data, n, type, to, tag, comm);
}

int MPI_Barrier(MPI_Comm comm)
{
    barriers++;
    look(comm);
    return PASS(Barrier, comm);
}

int MPI_Allreduce(const void *data, void *sum, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    reductions++;
    return PASS(Allreduce, data, sum, n, type, op, comm);
}

int MPI_Finalize(void)
{
    printf("counted %d %d %d\n", sends, barriers, reductions);
    fflush(stdout);
    return PASS(Finalize);
}
