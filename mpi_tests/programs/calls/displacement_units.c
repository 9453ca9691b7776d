// One-sided operations on a window whose processes gave different displacement units, in a communicator whose ranks are
// those of the world backwards. The offsets noted are bytes in the target's window, where the target finds the value.

#include "truth.h"

enum { BYTES = 256, PUT_AT = 40, REQUEST_AT = 64, SUM_AT = 128, INT = sizeof(int) };

static const int units[] = {1, 4, 8};
static int rank, size, value; // ranks here are those of the communicator
static MPI_Comm backwards;

static int world_rank(int of)
{
    return size - 1 - of;
}

static MPI_Aint displacement(int target, int bytes)
{
    return bytes / units[world_rank(target) % 3];
}

static void note(const char *call, int target, int bytes, int sent, int received)
{
    truth_access(call, 1, bytes, 0, world_rank(target), sent, received);
}

static void expect(const int *memory, int bytes, int wanted)
{
    if (memory[bytes / INT] != wanted) truth_fail("a window has another value than the one that was put there");
}

static void between_fences(MPI_Win win, int next)
{
    int one = 1;
    CALL(MPI_Win_fence, 0, win);
    CALL(MPI_Put, &value, 1, MPI_INT, next, displacement(next, PUT_AT), 1, MPI_INT, win);
    note("MPI_Put", next, PUT_AT, INT, 0);
    CALL(MPI_Put, &value, 1, MPI_INT, rank, displacement(rank, 0), 1, MPI_INT, win);
    note("MPI_Put", rank, 0, INT, 0);
    CALL(MPI_Put, &value, 1, MPI_INT, MPI_PROC_NULL, 3, 1, MPI_INT, win);
    for (int to = 0; to < size; to++) {
        CALL(MPI_Accumulate, &one, 1, MPI_INT, to, displacement(to, SUM_AT), 1, MPI_INT, MPI_SUM, win);
        note("MPI_Accumulate", to, SUM_AT, INT, 0);
    }
    CALL(MPI_Win_fence, 0, win);
}

static void under_locks(MPI_Win win, int next)
{
    MPI_Request request;
    int got = -1;
    CALL(MPI_Win_lock_all, 0, win);
    CALL(MPI_Rput, &value, 1, MPI_INT, next, displacement(next, REQUEST_AT), 1, MPI_INT, win, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    note("MPI_Rput", next, REQUEST_AT, INT, 0);
    CALL(MPI_Win_flush, next, win);
    CALL(MPI_Get, &got, 1, MPI_INT, next, displacement(next, PUT_AT), 1, MPI_INT, win);
    note("MPI_Get", next, PUT_AT, 0, INT);
    CALL(MPI_Win_unlock_all, win);
    if (got != value) truth_fail("it got another value than it had put there");
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int memory[BYTES / INT] = {0};
    CALL(MPI_Init, &argc, &argv);
    truth_begin();
    size = truth.size;
    value = 1000 + truth.rank;
    CALL(MPI_Comm_split, MPI_COMM_WORLD, 0, -truth.rank, &backwards);
    PMPI_Comm_rank(backwards, &rank);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    CALL(MPI_Win_create, memory, BYTES, units[truth.rank % 3], MPI_INFO_NULL, backwards, &win);
    between_fences(win, next);
    under_locks(win, next);
    CALL(MPI_Win_free, &win);
    expect(memory, 0, value);
    expect(memory, PUT_AT, 1000 + world_rank(previous));
    expect(memory, REQUEST_AT, 1000 + world_rank(previous));
    expect(memory, SUM_AT, size);
    CALL(MPI_Comm_free, &backwards);
    CALL(MPI_Finalize);
    truth_write();
    return 0;
}
