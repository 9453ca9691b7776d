// MPI 4 sessions beside MPI_Init, as in a program with a library that uses them.

#include "truth.h"

static int out[MESSAGE_INTS], in[MESSAGE_INTS];

static void ring(MPI_Comm comm, int tag)
{
    int rank, size;
    MPI_Request request;
    CALL(MPI_Comm_rank, comm, &rank);
    CALL(MPI_Comm_size, comm, &size);
    int next = (rank + 1) % size;
    CALL(MPI_Irecv, in, MESSAGE_INTS, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
    outgoing(out, comm, next, tag, 10);
    CALL(MPI_Send, out, 10, MPI_INT, next, tag, comm);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    incoming(in, comm);
    CALL(MPI_Barrier, comm);
}

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group world;
    MPI_Comm one, two, copy;
    int rank;
    CALL(MPI_Init, &argc, &argv);
    truth_begin();
    CALL(MPI_Session_init, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    CALL(MPI_Group_from_session_pset, session, "mpi://WORLD", &world);
    CALL(MPI_Group_rank, world, &rank);
    if (rank != truth.rank) truth_fail("the ranks differ");
    CALL(MPI_Comm_create_from_group, world, "first", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &one);
    CALL(MPI_Comm_create_from_group, world, "second", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &two);
    CALL(MPI_Comm_dup, one, &copy);
    ring(one, 1);
    ring(two, 2);
    ring(copy, 3);
    CALL(MPI_Comm_free, &copy);
    CALL(MPI_Comm_free, &two);
    CALL(MPI_Comm_free, &one);
    CALL(MPI_Group_free, &world);
    CALL(MPI_Session_finalize, &session);
    CALL(MPI_Finalize);
    truth_write();
    return 0;
}
