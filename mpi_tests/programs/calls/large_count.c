// The large-count forms of MPI 4, whose counts are MPI_Count; under an older MPI the plain ones.

#include "truth.h"

#if MPI_VERSION >= 4
#define LARGE(name) name##_c
typedef MPI_Count count_type;
#else
#define LARGE(name) name
typedef int count_type;
#endif

int main(int argc, char **argv)
{
    static int out[MESSAGE_INTS], in[MESSAGE_INTS], sum[MESSAGE_INTS];
    MPI_Request requests[2];
    const count_type n = 100;
    CALL(MPI_Init, &argc, &argv);
    truth_begin();
    int mate = truth.rank ^ 1;
    for (int tag = 0; tag < 20; tag++) {
        outgoing(out, MPI_COMM_WORLD, mate, tag, 100);
        CALL(LARGE(MPI_Irecv), in, n, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
        CALL(LARGE(MPI_Isend), out, n, MPI_INT, mate, tag, MPI_COMM_WORLD, &requests[1]);
        CALL(MPI_Waitall, 2, requests, MPI_STATUSES_IGNORE);
        incoming(in, MPI_COMM_WORLD);
        outgoing(out, MPI_COMM_WORLD, mate, tag, 100);
        CALL(LARGE(MPI_Sendrecv), out, n, MPI_INT, mate, tag, in, n, MPI_INT, mate, tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
        incoming(in, MPI_COMM_WORLD);
        CALL(LARGE(MPI_Allreduce), out, sum, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        truth_moved("MPI_Allreduce", 400, 400);
    }
    CALL(MPI_Finalize);
    truth_write();
    return 0;
}
