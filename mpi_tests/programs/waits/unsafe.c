/* Right only where MPI buffers: each rank of a ring sends, then receives. The messages are half as large as the largest
   that this MPI was found to send before their receive is there; that size is printed. An even number of ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG = 7, GO = 8 };

enum { MOST = 1 << 20, POLLS = 1000 };

/* Tell whether an even rank's send of this size is over before its receive is posted. */
static int is_buffered(int rank, int peer, char *out, char *in, int bytes)
{
    int gone = 0;
    MPI_Request request;
    if (rank % 2 == 0) {
        MPI_Isend(out, bytes, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, &request);
        double end = MPI_Wtime() + 0.02; /* on a busy machine it may be over before the first poll */
        for (int polls = 0; !gone && (polls < POLLS || MPI_Wtime() < end); polls++)
            MPI_Test(&request, &gone, MPI_STATUS_IGNORE);
        MPI_Send(&gone, 1, MPI_INT, peer, GO, MPI_COMM_WORLD);
        if (!gone) MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&gone, 1, MPI_INT, peer, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(in, bytes, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return gone;
}

int main(int argc, char **argv)
{
    int rank, size, largest = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *out = calloc(1, MOST), *in = calloc(1, MOST);
    for (int bytes = 2048; bytes <= MOST; bytes *= 2) {
        int gone = is_buffered(rank, rank ^ 1, out, in, bytes), all;
        if (rank % 2) gone = 1;
        MPI_Allreduce(&gone, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
        if (!all) break;
        largest = bytes;
    }
    for (int round = 0; largest && round < 20; round++) {
        int next = (rank + 1) % size, before = (rank + size - 1) % size;
        MPI_Send(out, largest / 2, MPI_CHAR, next, TAG, MPI_COMM_WORLD);
        MPI_Recv(in, largest / 2, MPI_CHAR, before, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (!rank) printf("%d\n", largest);
    MPI_Finalize();
    free(out);
    free(in);
    return 0;
}
