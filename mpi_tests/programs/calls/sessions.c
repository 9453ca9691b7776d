// MPI 4 sessions beside MPI_Init, as in a program with a library that uses them: communicators of everybody, and
// intercommunicators of odd and even ranks.

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

// Every process of a side to every one of the other.
static void speak(MPI_Comm inter, int tag)
{
    int there;
    CALL(MPI_Comm_remote_size, inter, &there);
    for (int i = 0; i < there; i++) {
        outgoing(out, inter, i, tag, 10 + i);
        CALL(MPI_Send, out, 10 + i, MPI_INT, i, tag, inter);
    }
    for (int i = 0; i < there; i++) {
        CALL(MPI_Recv, in, MESSAGE_INTS, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, MPI_STATUS_IGNORE);
        incoming(in, inter);
    }
}

static void between_halves(MPI_Group world)
{
    MPI_Group groups[2];
    MPI_Comm inter[2];
    int own = truth.rank % 2;
    for (int i = 0; i < 2; i++) {
        int range[1][3] = {{i, truth.size - 1, 2}};
        CALL(MPI_Group_range_incl, world, 1, range, &groups[i]);
    }
    for (int i = 0; i < 2; i++) {
        CALL(MPI_Intercomm_create_from_groups, groups[own], 0, groups[1 - own], 0, i ? "again" : "between",
             MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &inter[i]);
    }
    for (int i = 0; i < 2; i++) speak(inter[i], 5 + i);
    for (int i = 0; i < 2; i++) {
        CALL(MPI_Comm_free, &inter[i]);
        CALL(MPI_Group_free, &groups[i]);
    }
}

static void whole_world(MPI_Group world)
{
    MPI_Comm one, two, copy;
    CALL(MPI_Comm_create_from_group, world, "first", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &one);
    CALL(MPI_Comm_create_from_group, world, "second", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &two);
    CALL(MPI_Comm_dup, one, &copy);
    ring(one, 1);
    ring(two, 2);
    ring(copy, 3);
    CALL(MPI_Comm_free, &copy);
    CALL(MPI_Comm_free, &two);
    CALL(MPI_Comm_free, &one);
}

#if MPI_VERSION >= 5
static void flushed_buffer(MPI_Session session)
{
    static char space[65536];
    void *detached;
    int size;
    MPI_Request request;
    CALL(MPI_Session_attach_buffer, session, space, (int)sizeof space);
    CALL(MPI_Session_iflush_buffer, session, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CALL(MPI_Session_detach_buffer, session, &detached, &size);
}
#endif

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group world;
    int rank;
    CALL(MPI_Init, &argc, &argv);
    truth_begin();
    CALL(MPI_Session_init, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    CALL(MPI_Group_from_session_pset, session, "mpi://WORLD", &world);
    CALL(MPI_Group_rank, world, &rank);
    if (rank != truth.rank) truth_fail("the ranks differ");
    whole_world(world);
    between_halves(world);
#if MPI_VERSION >= 5
    flushed_buffer(session);
#endif
    CALL(MPI_Group_free, &world);
    CALL(MPI_Session_finalize, &session);
    CALL(MPI_Finalize);
    truth_write();
    return 0;
}
