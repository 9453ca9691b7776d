// Messages to itself, `many_channels N TAGS`: N messages, each with the next of TAGS tags.

#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int n = atoi(argv[1]), tags = atoi(argv[2]), out = 0, in;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < n; i++) {
        MPI_Request request;
        MPI_Irecv(&in, 1, MPI_INT, 0, i % tags, MPI_COMM_SELF, &request);
        MPI_Send(&out, 1, MPI_INT, 0, i % tags, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
