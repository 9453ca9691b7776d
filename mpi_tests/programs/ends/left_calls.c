/* Calls that an error handler leaves by longjmp (C) or an exception (C++): 3 sends and 2 receives a rank. All later
 * calls are recorded, also where deeper functions make them: 10 of MPI_Sendrecv, 15 of MPI_Allreduce. MPI_Type_size is
 * called by MPI, in an operation, and not recorded. */
#include <mpi.h>

#ifdef __cplusplus
#define TRY(call)                                                                                                      \
    try                                                                                                                \
    {                                                                                                                  \
        call;                                                                                                          \
    }                                                                                                                  \
    catch(int) {}
static void leave(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    throw *code;
}
#else
#include <setjmp.h>
static jmp_buf before;
#define TRY(call)                                                                                                      \
    if (!setjmp(before)) call
static void leave(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    longjmp(before, 1);
}
#endif

static int rank, size;

__attribute__((noinline)) static int deeper(int levels)
{
    volatile char room[200];
    int mine = levels, other;
    room[levels] = (char)levels;
    if (levels) return deeper(levels - 1) + room[levels];
    MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, 1, &other, 1, MPI_INT, (rank + size - 1) % size, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&mine, &other, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return room[0];
}

static void add(void *from, void *to, int *length, MPI_Datatype *type)
{
    int bytes;
    MPI_Type_size(*type, &bytes);
    for (int i = 0; i < *length; i++) ((int *)to)[i] += ((int *)from)[i];
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    MPI_Op sum;
    int one = 1, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (volatile int i = 0; i < 3; i++) TRY(MPI_Send(&one, 1, MPI_INT, size + 7, 0, MPI_COMM_WORLD));
    for (volatile int i = 0; i < 2; i++)
        TRY(MPI_Recv(&one, 1, MPI_INT, size + 7, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < 10; i++) deeper(5);
    MPI_Op_create(add, 1, &sum);
    for (int i = 0; i < 5; i++) MPI_Allreduce(&one, &all, 1, MPI_INT, sum, MPI_COMM_WORLD);
    MPI_Op_free(&sum);
    MPI_Finalize();
    return 0;
}
