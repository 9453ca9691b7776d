/* Rank 1 frees receives of any source, and of any tag, before rank 0 sends; "named": receives of one source and tag.
 * Two messages come to each tag, and it receives the second one of each in the usual way. */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    static int data[2];
    int rank, named = argc > 1 && strcmp(argv[1], "named") == 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int tag = 0; tag < 2; tag++) {
        if (rank == 1) {
            MPI_Irecv(&data[tag], 1, MPI_INT, named || tag ? 0 : MPI_ANY_SOURCE, named || !tag ? tag : MPI_ANY_TAG,
                      MPI_COMM_WORLD, &request);
            MPI_Request_free(&request);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < 2; i++) {
            int other = i;
            if (rank == 0) MPI_Send(&other, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
            if (rank == 1 && i) MPI_Recv(&other, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return MPI_Finalize();
}
