// Every blocking point-to-point call, with wildcards, ignored statuses, MPI_PROC_NULL and empty messages.
// Ranks form pairs (0,1), (2,3), ...: run with an even number.

#include "truth.h"

static int mate; // the other one of the pair
static int out[MESSAGE_INTS], in[MESSAGE_INTS];
static const MPI_Comm WORLD = MPI_COMM_WORLD;

static int first(void)
{
    return truth.rank % 2 == 0;
}

static void receive(int source, int tag, MPI_Status *status)
{
    CALL(MPI_Recv, in, MESSAGE_INTS, MPI_INT, source, tag, WORLD, status);
    incoming(in, WORLD);
}

// One message each way through each blocking send.
#define BOTH_WAYS(SEND, tag, n)                                                                                        \
    do {                                                                                                               \
        if (!first()) receive(mate, tag, MPI_STATUS_IGNORE);                                                           \
        CALL(SEND, outgoing(out, WORLD, mate, tag, n), n, MPI_INT, mate, tag, WORLD);                                  \
        if (first()) receive(mate, tag, MPI_STATUS_IGNORE);                                                            \
    } while (0)

static void sends(void)
{
    static char space[65536];
    void *detached;
    int size;
    BOTH_WAYS(MPI_Send, 1, 3);
    BOTH_WAYS(MPI_Send, 2, MESSAGE_INTS);
    BOTH_WAYS(MPI_Ssend, 3, 50);
    CALL(MPI_Buffer_attach, space, (int)sizeof space);
    BOTH_WAYS(MPI_Bsend, 4, 7);
    CALL(MPI_Buffer_detach, &detached, &size);

    MPI_Request request; // a ready send needs its receive posted
    CALL(MPI_Irecv, in, MESSAGE_INTS, MPI_INT, mate, 5, WORLD, &request);
    CALL(MPI_Barrier, WORLD);
    CALL(MPI_Rsend, outgoing(out, WORLD, mate, 5, 9), 9, MPI_INT, mate, 5, WORLD);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    incoming(in, WORLD);
}

// All others send to rank 0, which does not ask from whom.
static void wildcards(void)
{
    MPI_Status status;
    for (int round = 0; round < 4; round++) {
        if (truth.rank == 0) {
            for (int i = 1; i < truth.size; i++)
                receive(MPI_ANY_SOURCE, round % 2 ? MPI_ANY_TAG : 10 + round, round < 2 ? MPI_STATUS_IGNORE : &status);
        } else {
            int n = 5 + truth.rank;
            CALL(MPI_Send, outgoing(out, WORLD, 0, 10 + round, n), n, MPI_INT, 0, 10 + round, WORLD);
        }
        CALL(MPI_Barrier, WORLD); // rounds with and without a tag must not mix
    }
}

static void sendrecvs(void)
{
    int next = (truth.rank + 1) % truth.size, previous = (truth.rank + truth.size - 1) % truth.size;
    CALL(MPI_Sendrecv, outgoing(out, WORLD, next, 20, 12), 12, MPI_INT, next, 20, in, MESSAGE_INTS, MPI_INT, previous,
         20, WORLD, MPI_STATUS_IGNORE);
    incoming(in, WORLD);
    CALL(MPI_Sendrecv, outgoing(out, WORLD, next, 21, 13), 13, MPI_INT, next, 21, in, MESSAGE_INTS, MPI_INT,
         MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, MPI_STATUS_IGNORE);
    incoming(in, WORLD);
    CALL(MPI_Sendrecv_replace, outgoing(out, WORLD, next, 22, 14), 14, MPI_INT, next, 22, previous, 22, WORLD,
         MPI_STATUS_IGNORE);
    incoming(out, WORLD);
    CALL(MPI_Barrier, WORLD);

    // Half to nobody: only the other half is a message.
    int forward = first() ? mate : MPI_PROC_NULL, backward = first() ? MPI_PROC_NULL : mate;
    if (first()) outgoing(out, WORLD, mate, 23, 15);
    CALL(MPI_Sendrecv, out, 15, MPI_INT, forward, 23, in, MESSAGE_INTS, MPI_INT, backward, 23, WORLD,
         MPI_STATUS_IGNORE);
    if (!first()) incoming(in, WORLD);
}

static void nobody_and_nothing(void)
{
    CALL(MPI_Send, out, 10, MPI_INT, MPI_PROC_NULL, 30, WORLD);
    CALL(MPI_Recv, in, 10, MPI_INT, MPI_PROC_NULL, 30, WORLD, MPI_STATUS_IGNORE);
    MPI_Status status;
    if (first()) {
        truth_sent(WORLD, mate, 31, 0);
        CALL(MPI_Send, out, 0, MPI_INT, mate, 31, WORLD);
        truth_sent(WORLD, mate, 32, 0);
        CALL(MPI_Send, NULL, 0, MPI_BYTE, mate, 32, WORLD);
    } else {
        CALL(MPI_Recv, in, MESSAGE_INTS, MPI_INT, MPI_ANY_SOURCE, 31, WORLD, &status);
        truth_received(WORLD, mate, 31, 0);
        CALL(MPI_Recv, in, 0, MPI_INT, mate, MPI_ANY_TAG, WORLD, MPI_STATUS_IGNORE);
        truth_received(WORLD, mate, 32, 0);
    }
}

static void probes(void)
{
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    int flag = 0;
    if (first()) {
        for (int tag = 40; tag < 44; tag++)
            CALL(MPI_Send, outgoing(out, WORLD, mate, tag, tag), tag, MPI_INT, mate, tag, WORLD);
        return;
    }
    CALL(MPI_Probe, MPI_ANY_SOURCE, 40, WORLD, &status);
    receive(status.MPI_SOURCE, 40, &status);
    while (!flag) CALL(MPI_Iprobe, mate, 41, WORLD, &flag, MPI_STATUS_IGNORE);
    receive(mate, 41, MPI_STATUS_IGNORE);
    CALL(MPI_Mprobe, MPI_ANY_SOURCE, 42, WORLD, &message, &status);
    CALL(MPI_Mrecv, in, MESSAGE_INTS, MPI_INT, &message, MPI_STATUS_IGNORE);
    incoming(in, WORLD);
    flag = 0;
    while (!flag) CALL(MPI_Improbe, mate, MPI_ANY_TAG, WORLD, &flag, &message, MPI_STATUS_IGNORE);
    CALL(MPI_Imrecv, in, MESSAGE_INTS, MPI_INT, &message, &request);
    CALL(MPI_Wait, &request, &status);
    incoming(in, WORLD);

    CALL(MPI_Mprobe, MPI_PROC_NULL, 44, WORLD, &message, &status); // matched: MPI_MESSAGE_NO_PROC
    CALL(MPI_Mrecv, in, 1, MPI_INT, &message, &status);
    CALL(MPI_Iprobe, mate, 45, WORLD, &flag, &status); // nobody sends this one
    if (flag) truth_fail("a message that was never sent");
}

int main(int argc, char **argv)
{
    CALL(MPI_Init, &argc, &argv);
    truth_begin();
    mate = truth.rank ^ 1;
    sends();
    wildcards();
    sendrecvs();
    nobody_and_nothing();
    probes();
    CALL(MPI_Barrier, WORLD);
    CALL(MPI_Finalize);
    truth_write();
    return 0;
}
