// Every nonblocking and persistent point-to-point call and every way to complete, cancel or free one.
// Ranks form pairs (0,1), (2,3), ...: run with an even number.

#include "truth.h"

enum { N = 6 };

static int mate;
static int out[N][MESSAGE_INTS], in[N][MESSAGE_INTS];
static MPI_Request receives[N], sends[N];
static MPI_Status statuses[N];
static const MPI_Comm WORLD = MPI_COMM_WORLD;

static void post_receives(int n, int source, int tag)
{
    for (int i = 0; i < n; i++)
        CALL(MPI_Irecv, in[i], MESSAGE_INTS, MPI_INT, source, tag == MPI_ANY_TAG ? tag : tag + i, WORLD, &receives[i]);
}

static void post_sends(int n, int tag)
{
    for (int i = 0; i < n; i++)
        CALL(MPI_Isend, outgoing(out[i], WORLD, mate, tag + i, 4 + i), 4 + i, MPI_INT, mate, tag + i, WORLD, &sends[i]);
}

static void wait_sends(int n)
{
    CALL(MPI_Waitall, n, sends, MPI_STATUSES_IGNORE);
}

static void modes(void)
{
    static char space[65536];
    void *detached;
    int size;
    CALL(MPI_Buffer_attach, space, (int)sizeof space);
    post_receives(4, mate, 1);
    CALL(MPI_Barrier, WORLD); // the ready send needs its receive
    CALL(MPI_Isend, outgoing(out[0], WORLD, mate, 1, 11), 11, MPI_INT, mate, 1, WORLD, &sends[0]);
    CALL(MPI_Ibsend, outgoing(out[1], WORLD, mate, 2, 12), 12, MPI_INT, mate, 2, WORLD, &sends[1]);
    CALL(MPI_Issend, outgoing(out[2], WORLD, mate, 3, 13), 13, MPI_INT, mate, 3, WORLD, &sends[2]);
    CALL(MPI_Irsend, outgoing(out[3], WORLD, mate, 4, 14), 14, MPI_INT, mate, 4, WORLD, &sends[3]);
    for (int i = 0; i < 4; i++) {
        CALL(MPI_Wait, &receives[i], i % 2 ? &statuses[i] : MPI_STATUS_IGNORE);
        incoming(in[i], WORLD);
    }
    wait_sends(4);
    CALL(MPI_Buffer_detach, &detached, &size);
    CALL(MPI_Wait, &sends[0], MPI_STATUS_IGNORE); // null by now
}

static void waits(void)
{
    int index, done, indices[N];
    post_receives(N, MPI_ANY_SOURCE, MPI_ANY_TAG);
    post_sends(N, 10);
    CALL(MPI_Waitall, N, receives, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) incoming(in[i], WORLD);
    wait_sends(N);

    post_receives(N, mate, 20);
    post_sends(N, 20);
    for (int i = 0; i < N; i++) {
        CALL(MPI_Waitany, N, receives, &index, i % 2 ? &statuses[0] : MPI_STATUS_IGNORE);
        incoming(in[index], WORLD);
    }
    CALL(MPI_Waitany, N, receives, &index, MPI_STATUS_IGNORE);
    if (index != MPI_UNDEFINED) truth_fail("Waitany found a request where there is none");
    wait_sends(N);

    post_receives(N, MPI_ANY_SOURCE, 30);
    post_sends(N, 30);
    for (int left = N; left > 0; left -= done) {
        CALL(MPI_Waitsome, N, receives, &done, indices, left % 2 ? statuses : MPI_STATUSES_IGNORE);
        for (int i = 0; i < done; i++) incoming(in[indices[i]], WORLD);
    }
    wait_sends(N);
}

static void tests(void)
{
    int flag, index, done, indices[N];
    post_receives(N, mate, 40);
    CALL(MPI_Test, &receives[0], &flag, MPI_STATUS_IGNORE); // may fail: often nothing was sent yet
    if (flag) incoming(in[0], WORLD);
    CALL(MPI_Barrier, WORLD);
    post_sends(N, 40);
    for (int i = flag; i < N; i++) {
        do CALL(MPI_Test, &receives[i], &flag, MPI_STATUS_IGNORE);
        while (!flag);
        incoming(in[i], WORLD);
    }
    wait_sends(N);

    post_receives(N, MPI_ANY_SOURCE, MPI_ANY_TAG);
    post_sends(N, 50);
    for (int left = N; left > 0; left -= flag) {
        CALL(MPI_Testany, N, receives, &index, &flag, MPI_STATUS_IGNORE);
        if (flag) incoming(in[index], WORLD);
    }
    wait_sends(N);
    CALL(MPI_Barrier, WORLD);

    post_receives(N, mate, 60);
    post_sends(N, 60);
    for (int left = N; left > 0; left -= done) {
        CALL(MPI_Testsome, N, receives, &done, indices, statuses);
        for (int i = 0; i < done; i++) incoming(in[indices[i]], WORLD);
    }
    do CALL(MPI_Testall, N, sends, &flag, MPI_STATUSES_IGNORE);
    while (!flag);

    post_receives(1, mate, 70);
    post_sends(1, 70);
    do CALL(MPI_Request_get_status, receives[0], &flag, MPI_STATUS_IGNORE);
    while (!flag);
    CALL(MPI_Wait, &receives[0], &statuses[0]);
    incoming(in[0], WORLD);
    wait_sends(1);
}

static void persistent(void)
{
    static char space[65536];
    void *detached;
    int size;
    CALL(MPI_Buffer_attach, space, (int)sizeof space);
    for (int i = 0; i < 4; i++) CALL(MPI_Recv_init, in[i], MESSAGE_INTS, MPI_INT, mate, 80 + i, WORLD, &receives[i]);
    CALL(MPI_Send_init, out[0], 20, MPI_INT, mate, 80, WORLD, &sends[0]);
    CALL(MPI_Bsend_init, out[1], 21, MPI_INT, mate, 81, WORLD, &sends[1]);
    CALL(MPI_Ssend_init, out[2], 22, MPI_INT, mate, 82, WORLD, &sends[2]);
    CALL(MPI_Rsend_init, out[3], 23, MPI_INT, mate, 83, WORLD, &sends[3]);
    for (int round = 0; round < 3; round++) {
        CALL(MPI_Startall, 4, receives);
        CALL(MPI_Barrier, WORLD);
        for (int i = 0; i < 4; i++) {
            outgoing(out[i], WORLD, mate, 80 + i, 20 + i);
            CALL(MPI_Start, &sends[i]);
        }
        CALL(MPI_Waitall, 4, sends, MPI_STATUSES_IGNORE);
        CALL(MPI_Waitall, 4, receives, statuses);
        for (int i = 0; i < 4; i++) incoming(in[i], WORLD);
    }
    for (int i = 0; i < 4; i++) {
        CALL(MPI_Request_free, &sends[i]);
        CALL(MPI_Request_free, &receives[i]);
    }
    CALL(MPI_Buffer_detach, &detached, &size);
}

static void cancelled_freed_and_null(void)
{
    int cancelled;
    CALL(MPI_Irecv, in[0], 4, MPI_INT, mate, 90, WORLD, &receives[0]); // nobody sends it
    CALL(MPI_Cancel, &receives[0]);
    CALL(MPI_Wait, &receives[0], &statuses[0]);
    CALL(MPI_Test_cancelled, &statuses[0], &cancelled);
    if (!cancelled) truth_fail("the receive was not cancelled");

    CALL(MPI_Irecv, in[0], 4, MPI_INT, MPI_PROC_NULL, 91, WORLD, &receives[0]);
    CALL(MPI_Isend, out[0], 4, MPI_INT, MPI_PROC_NULL, 91, WORLD, &sends[0]);
    CALL(MPI_Wait, &receives[0], MPI_STATUS_IGNORE);
    CALL(MPI_Wait, &sends[0], MPI_STATUS_IGNORE);

    // A freed send is delivered all the same.
    CALL(MPI_Irecv, in[1], MESSAGE_INTS, MPI_INT, mate, 92, WORLD, &receives[1]);
    CALL(MPI_Isend, outgoing(out[1], WORLD, mate, 92, 8), 8, MPI_INT, mate, 92, WORLD, &sends[1]);
    CALL(MPI_Request_free, &sends[1]);
    CALL(MPI_Wait, &receives[1], MPI_STATUS_IGNORE);
    incoming(in[1], WORLD);
}

#if MPI_VERSION >= 4
static void sendrecv_requests(void)
{
    /* The buffer is no larger than the message: MPICH's status of an MPI_Isendrecv does not tell what came. */
    CALL(MPI_Isendrecv, outgoing(out[0], WORLD, mate, 95, 6), 6, MPI_INT, mate, 95, in[0], 6, MPI_INT, mate, 95, WORLD,
         &sends[0]);
    CALL(MPI_Wait, &sends[0], MPI_STATUS_IGNORE);
    incoming(in[0], WORLD);
    CALL(MPI_Isendrecv_replace, outgoing(out[0], WORLD, mate, 96, 6), 6, MPI_INT, mate, 96, mate, 96, WORLD, &sends[0]);
    CALL(MPI_Wait, &sends[0], MPI_STATUS_IGNORE);
    incoming(out[0], WORLD);
}
#endif

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int released;

static int release(void *state)
{
    (void)state;
    released++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    return complete ? MPI_SUCCESS : MPI_ERR_OTHER;
}

// An operation that the program itself completes: no message.
static void of_the_program(void)
{
    MPI_Request request;
    int done;
    CALL(MPI_Grequest_start, query, release, cancel, NULL, &request);
    CALL(MPI_Test, &request, &done, MPI_STATUS_IGNORE);
    if (done) truth_fail("a request was complete before its time");
    CALL(MPI_Grequest_complete, request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    if (released != 1) truth_fail("the request was not released");
}

#if MPI_VERSION >= 5
// Asking completes nothing: every receive is there to be waited for afterwards.
static void statuses_of_several(void)
{
    int flag = 0, done = 0, indices[N];
    post_receives(N, mate, 100);
    CALL(MPI_Barrier, WORLD);
    post_sends(N, 100);
    do CALL(MPI_Request_get_status_any, N, receives, &indices[0], &flag, MPI_STATUS_IGNORE);
    while (!flag);
    do CALL(MPI_Request_get_status_some, N, receives, &done, indices, MPI_STATUSES_IGNORE);
    while (!done);
    do CALL(MPI_Request_get_status_all, N, receives, &flag, MPI_STATUSES_IGNORE);
    while (!flag);
    CALL(MPI_Waitall, N, receives, statuses);
    for (int i = 0; i < N; i++) incoming(in[i], WORLD);
    wait_sends(N);
}

static void flushed_buffers(void)
{
    static char of_process[65536], of_communicator[65536];
    void *detached;
    int size;
    MPI_Request flushes[2];
    CALL(MPI_Buffer_attach, of_process, (int)sizeof of_process);
    CALL(MPI_Comm_attach_buffer, WORLD, of_communicator, (int)sizeof of_communicator);
    CALL(MPI_Irecv, in[0], MESSAGE_INTS, MPI_INT, mate, 110, WORLD, &receives[0]);
    CALL(MPI_Bsend, outgoing(out[0], WORLD, mate, 110, 12), 12, MPI_INT, mate, 110, WORLD);
    CALL(MPI_Buffer_iflush, &flushes[0]);
    CALL(MPI_Comm_iflush_buffer, WORLD, &flushes[1]);
    CALL(MPI_Waitall, 2, flushes, MPI_STATUSES_IGNORE);
    CALL(MPI_Wait, &receives[0], &statuses[0]);
    incoming(in[0], WORLD);
    CALL(MPI_Comm_detach_buffer, WORLD, &detached, &size);
    CALL(MPI_Buffer_detach, &detached, &size);
}
#endif

int main(int argc, char **argv)
{
    CALL(MPI_Init, &argc, &argv);
    truth_begin();
    mate = truth.rank ^ 1;
    for (int round = 0; round < 5; round++) {
        modes();
        waits();
        tests();
        persistent();
    }
    cancelled_freed_and_null();
    of_the_program();
#if MPI_VERSION >= 4
    sendrecv_requests();
#endif
#if MPI_VERSION >= 5
    statuses_of_several();
    flushed_buffers();
#endif
    CALL(MPI_Barrier, WORLD);
    CALL(MPI_Finalize);
    truth_write();
    return 0;
}
