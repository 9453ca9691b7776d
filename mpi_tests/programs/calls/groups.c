// Communicators, and calls on a window, with groups of every form. Run with 4 ranks.

#include <mpi.h>

int main(int argc, char **argv)
{
    enum { RANKS = 4, ROW = 2 };
    int rank;
    MPI_Comm copy, row, column, backwards, swapped, self, across;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_split(MPI_COMM_WORLD, rank / ROW, 0, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % ROW, 0, &column);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank ^ 1, &swapped);
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    MPI_Intercomm_create(row, 0, MPI_COMM_WORLD, rank < ROW ? ROW : 0, 9, &across);

    int to = (rank + 1) % RANKS, from = (rank + RANKS - 1) % RANKS, got;
    MPI_Sendrecv(&rank, 1, MPI_INT, to, 1, &got, 1, MPI_INT, from, 1, copy, MPI_STATUS_IGNORE);
    to = RANKS - 1 - to, from = RANKS - 1 - from; // the same ones, as backwards counts them
    MPI_Sendrecv(&rank, 1, MPI_INT, to, 2, &got, 1, MPI_INT, from, 2, backwards, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&rank, 1, MPI_INT, rank % ROW, 3, &got, 1, MPI_INT, rank % ROW, 3, across, MPI_STATUS_IGNORE);

    int here = 0;
    MPI_Win window;
    MPI_Group world, origin, targets;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, (int[]){1}, &origin);
    MPI_Group_incl(world, 2, (int[]){3, 0}, &targets);
    MPI_Win_create(&here, sizeof here, sizeof here, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (rank == 1) {
        MPI_Win_start(targets, 0, window);
        MPI_Win_complete(window);
    } else if (rank == 0 || rank == 3) {
        MPI_Win_post(origin, 0, window);
        MPI_Win_wait(window);
    }
    MPI_Win_free(&window);
    MPI_Group_free(&targets);
    MPI_Group_free(&origin);
    MPI_Group_free(&world);

    MPI_Comm *all[] = {&copy, &row, &column, &backwards, &swapped, &self, &across};
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++) MPI_Comm_free(all[k]);
    MPI_Finalize();
    return 0;
}
