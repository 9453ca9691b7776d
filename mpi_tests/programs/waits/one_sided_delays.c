// Ranks 0 and 1 wait for each other's windows; each delay is so much CPU time. argv[1]: ms of a delay, [2]: bytes put.

#include <stdlib.h>
#include <time.h>

#include <mpi.h>

static void compute(long ms)
{
    struct timespec t;
    long until = -1, now;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        now = t.tv_sec * 1000000000 + t.tv_nsec;
        if (until < 0) until = now + ms * 1000000;
    } while (now < until);
}

int main(int argc, char **argv)
{
    int rank, other;
    char *memory;
    MPI_Win win;
    MPI_Group world, partner;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    long ms = atol(argv[1]);
    int bytes = atoi(argv[2]);
    char *data = calloc(1, (size_t)bytes);
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &other, &partner);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) { // waits in MPI_Win_start
        MPI_Win_start(partner, 0, win);
        MPI_Put(data, bytes, MPI_CHAR, 1, 0, bytes, MPI_CHAR, win);
        MPI_Win_complete(win);
    } else {
        compute(ms);
        MPI_Win_post(partner, 0, win);
        MPI_Win_wait(win);
    }
    if (rank == 0) { // rank 1 waits in MPI_Win_wait
        MPI_Win_start(partner, 0, win);
        compute(ms);
        MPI_Win_complete(win);
    } else {
        MPI_Win_post(partner, 0, win);
        MPI_Win_wait(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win); // one after the other
    compute(ms);
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win); // both at once
    MPI_Rput(data, bytes, MPI_CHAR, other, 0, bytes, MPI_CHAR, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    compute(ms);
    MPI_Win_unlock_all(win);
    MPI_Group_free(&partner);
    MPI_Group_free(&world);
    MPI_Win_free(&win);
    free(data);
    MPI_Finalize();
    return 0;
}
