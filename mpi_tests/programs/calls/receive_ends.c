// Every way in which a receive can end, each on a tag of its own. Then a message of CONTROL + tag ints is received
// there in the usual way: if the receive before it has taken its message, and only then, that is the one before.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CONTROL = 100, LARGE = 40 };

static int rank, buffer[1000], other[1000];
static MPI_Comm comm = MPI_COMM_WORLD;

static void send(int n, int tag)
{
    if (rank == 0) MPI_Send(buffer, n, MPI_INT, 1, tag, comm);
}

static MPI_Request post(int n, int tag)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 1) MPI_Irecv(buffer, n, MPI_INT, 0, tag, comm, &request);
    return request;
}

static void expect(int code, int class)
{
    int found;
    MPI_Error_class(code, &found);
    if (found == class) return;
    fprintf(stderr, "class %d, not %d\n", found, class);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void control(int tag)
{
    MPI_Barrier(MPI_COMM_WORLD);
    send(CONTROL + tag, tag);
    if (rank == 1) MPI_Recv(other, 1000, MPI_INT, 0, tag, comm, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void free_active(int tag)
{
    MPI_Request r = post(LARGE, tag);
    if (rank == 1) MPI_Request_free(&r);
    MPI_Barrier(MPI_COMM_WORLD);
    send(LARGE, tag);
}

static void free_done(int tag, int source, int any_tag)
{
    MPI_Request r;
    int flag = 0;
    send(LARGE, tag);
    if (rank == 0) return;
    MPI_Irecv(buffer, LARGE, MPI_INT, source, any_tag, comm, &r);
    while (!flag) MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
}

static void truncate_recv(int tag)
{
    send(LARGE, tag);
    if (rank == 1) expect(MPI_Recv(buffer, 1, MPI_INT, 0, tag, comm, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
}

static void truncate_sendrecv(int tag)
{
    int to = 1 - rank, n = rank ? 1 : LARGE, room = rank ? 1 : 1000;
    int code =
        MPI_Sendrecv(buffer, n, MPI_INT, to, tag, other, room, MPI_INT, to, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(code, rank ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
}

// One request is enough for its message, the other is not.
enum completion { WAITALL, WAITSOME, WAITANY, WAIT, TESTALL, TESTSOME, TESTANY, TEST };
static void truncate_requests(int tag, enum completion how)
{
    MPI_Request r[2] = {post(1, tag), post(LARGE, tag)};
    MPI_Status s[2];
    int flag = 0, index[2], n = 0, code = 0;
    send(LARGE, tag);
    send(LARGE, tag);
    if (rank == 0) return;
    switch (how) {
    case WAITALL:
        expect(MPI_Waitall(2, r, s), MPI_ERR_IN_STATUS);
        break;
    case TESTALL:
        while (!flag && !code) code = MPI_Testall(2, r, &flag, s);
        expect(code, MPI_ERR_IN_STATUS);
        break;
    case WAITSOME:
        while (n != MPI_UNDEFINED) MPI_Waitsome(2, r, &n, index, s);
        break;
    case TESTSOME:
        while (n != MPI_UNDEFINED) MPI_Testsome(2, r, &n, index, s);
        break;
    case WAITANY:
        for (int k = 0; k < 2; k++) MPI_Waitany(2, r, index, s);
        break;
    case TESTANY:
        for (int k = 0; k < 2; k += flag || code) code = MPI_Testany(2, r, index, &flag, s);
        break;
    case WAIT:
        expect(MPI_Wait(&r[0], s), MPI_ERR_TRUNCATE);
        MPI_Wait(&r[1], s);
        break;
    case TEST:
        while (!flag && !code) code = MPI_Test(&r[0], &flag, s);
        expect(code, MPI_ERR_TRUNCATE);
        MPI_Wait(&r[1], s);
    }
}

static void cancelled(int tag, int too_late)
{
    MPI_Request r = post(LARGE, tag);
    MPI_Status s;
    int flag;
    if (too_late) send(LARGE, tag);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) return;
    if (too_late)
        for (flag = 0; !flag;) MPI_Request_get_status(r, &flag, &s);
    MPI_Cancel(&r);
    MPI_Wait(&r, &s);
}

static void cancelled_and_freed(int tag)
{
    MPI_Request r = post(LARGE, tag);
    if (rank == 0) return;
    MPI_Cancel(&r);
    MPI_Request_free(&r);
}

static void proc_null(int tag)
{
    MPI_Request r;
    MPI_Message m;
    MPI_Status s;
    if (rank == 0) return;
    MPI_Recv(buffer, 1, MPI_INT, MPI_PROC_NULL, tag, comm, &s);
    MPI_Irecv(buffer, 1, MPI_INT, MPI_PROC_NULL, tag, comm, &r);
    MPI_Request_free(&r);
    MPI_Mprobe(MPI_PROC_NULL, tag, comm, &m, &s);
    MPI_Mrecv(buffer, 1, MPI_INT, &m, &s);
    MPI_Mprobe(MPI_PROC_NULL, tag, comm, &m, &s);
    MPI_Imrecv(buffer, 1, MPI_INT, &m, &r);
    MPI_Wait(&r, &s);
}

enum matched { MRECV, MRECV_TRUNCATED, IMRECV, IMRECV_FREED };
static void matched(int tag, enum matched how)
{
    MPI_Message m;
    MPI_Request r;
    MPI_Status s;
    send(LARGE, tag);
    if (rank == 0) return;
    MPI_Mprobe(MPI_ANY_SOURCE, tag, comm, &m, &s);
    if (how == MRECV) MPI_Mrecv(buffer, LARGE, MPI_INT, &m, &s);
    if (how == MRECV_TRUNCATED) expect(MPI_Mrecv(buffer, 1, MPI_INT, &m, &s), MPI_ERR_TRUNCATE);
    if (how >= IMRECV) MPI_Imrecv(buffer, LARGE, MPI_INT, &m, &r);
    if (how == IMRECV) MPI_Wait(&r, &s);
    if (how == IMRECV_FREED) MPI_Request_free(&r);
}

static void persistent(int tag, int active)
{
    MPI_Request r;
    if (rank == 1) {
        MPI_Recv_init(buffer, LARGE, MPI_INT, 0, tag, comm, &r);
        if (active) MPI_Start(&r);
        MPI_Request_free(&r);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (active) send(LARGE, tag);
}

static void never_completed(int tag)
{
    post(LARGE, tag);
    MPI_Barrier(MPI_COMM_WORLD);
    send(LARGE, tag);
}

/* The ranks of the other group are what it names. */
static void free_active_between(int tag)
{
    MPI_Request r;
    for (int k = 0; k < 2; k++) {
        if (rank == 1 && k == 0) MPI_Irecv(buffer, LARGE, MPI_INT, 0, tag, comm, &r), MPI_Request_free(&r);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) MPI_Send(buffer, k ? CONTROL + tag : LARGE, MPI_INT, 0, tag, comm);
        if (rank == 1 && k == 1) MPI_Recv(other, 1000, MPI_INT, 0, tag, comm, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm half;
    int tag = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#define TRY(...) (__VA_ARGS__, control(tag), tag++)
    TRY(free_active(tag));
    TRY(free_done(tag, 0, tag));
    TRY(free_done(tag, MPI_ANY_SOURCE, MPI_ANY_TAG));
    TRY(truncate_recv(tag));
    TRY(truncate_sendrecv(tag));
    for (int how = WAITALL; how <= TEST; how++) TRY(truncate_requests(tag, how));
    TRY(cancelled(tag, 0));
    TRY(cancelled(tag, 1));
    TRY(cancelled_and_freed(tag));
    TRY(proc_null(tag));
    for (int how = MRECV; how <= IMRECV_FREED; how++) TRY(matched(tag, how));
    TRY(persistent(tag, 1));
    TRY(persistent(tag, 0));
    TRY(never_completed(tag));
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank, 0, &comm);
    free_active_between(tag);
    MPI_Finalize();
    return 0;
}
