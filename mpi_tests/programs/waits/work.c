// Work of known amounts for a made-up processor (made_up_papi.c): `work N` adds i * 5 + rank to work_done[0] and
// 1000 - i to work_done[1] before barrier i. Link it with -rdynamic.

#include <mpi.h>
#include <stdlib.h>

long long work_done[3];

int main(int argc, char **argv)
{
    int rank, n = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < n; i++) {
        work_done[0] += i * 5 + rank;
        work_done[1] += 1000 - i;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
