// Every collective, blocking and nonblocking, the v-variants and MPI_IN_PLACE, on MPI_COMM_WORLD.
//
// Beside each call stand the bytes that this rank hands to MPI and takes from it. Rank r contributes r + 1 ints
// to the v-variants.

#include "truth.h"

enum { N = 16, MOST = 64 };

static const MPI_Comm WORLD = MPI_COMM_WORLD;
static const long INT = sizeof(int);
static int out[MOST * N], in[MOST * N];
static int counts[MOST], starts[MOST], ones[MOST], places[MOST];
static MPI_Datatype types[MOST];
static int rank, size, total; // total: ints of all ranks in the v-variants
static MPI_Request request;

// Odd ranks wait, even ranks poll.
static void complete(void)
{
    int flag = 0;
    if (rank % 2)
        CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    else
        while (!flag) CALL(MPI_Test, &request, &flag, MPI_STATUS_IGNORE);
}

// A collective and its nonblocking form, each moving `sent` and `received` ints here.
#define BOTH(BLOCKING, NONBLOCKING, sent, received, ...)                                                               \
    do {                                                                                                               \
        CALL(BLOCKING, __VA_ARGS__);                                                                                   \
        truth_moved(#BLOCKING, (sent) * INT, (received) * INT);                                                        \
        CALL(NONBLOCKING, __VA_ARGS__, &request);                                                                      \
        truth_moved(#NONBLOCKING, (sent) * INT, (received) * INT);                                                     \
        complete();                                                                                                    \
    } while (0)

static void rooted(int root)
{
    int here = rank == root;
    BOTH(MPI_Bcast, MPI_Ibcast, here ? N : 0, here ? 0 : N, out, N, MPI_INT, root, WORLD);
    BOTH(MPI_Gather, MPI_Igather, N, here ? N * size : 0, out, N, MPI_INT, in, N, MPI_INT, root, WORLD);
    BOTH(MPI_Gatherv, MPI_Igatherv, rank + 1, here ? total : 0, out, rank + 1, MPI_INT, in, counts, starts, MPI_INT,
         root, WORLD);
    BOTH(MPI_Scatter, MPI_Iscatter, here ? N * size : 0, N, out, N, MPI_INT, in, N, MPI_INT, root, WORLD);
    BOTH(MPI_Scatterv, MPI_Iscatterv, here ? total : 0, rank + 1, out, counts, starts, MPI_INT, in, rank + 1, MPI_INT,
         root, WORLD);
    BOTH(MPI_Reduce, MPI_Ireduce, N, here ? N : 0, out, in, N, MPI_INT, MPI_SUM, root, WORLD);
}

static void everywhere(void)
{
    BOTH(MPI_Barrier, MPI_Ibarrier, 0, 0, WORLD);
    BOTH(MPI_Allgather, MPI_Iallgather, N, N * size, out, N, MPI_INT, in, N, MPI_INT, WORLD);
    BOTH(MPI_Allgatherv, MPI_Iallgatherv, rank + 1, total, out, rank + 1, MPI_INT, in, counts, starts, MPI_INT, WORLD);
    BOTH(MPI_Alltoall, MPI_Ialltoall, N * size, N * size, out, N, MPI_INT, in, N, MPI_INT, WORLD);
    BOTH(MPI_Allreduce, MPI_Iallreduce, N, N, out, in, N, MPI_INT, MPI_SUM, WORLD);
    BOTH(MPI_Reduce_scatter, MPI_Ireduce_scatter, total, rank + 1, out, in, counts, MPI_INT, MPI_SUM, WORLD);
    BOTH(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, N * size, N, out, in, N, MPI_INT, MPI_SUM, WORLD);
    BOTH(MPI_Scan, MPI_Iscan, N, N, out, in, N, MPI_INT, MPI_SUM, WORLD);
    BOTH(MPI_Exscan, MPI_Iexscan, N, rank ? N : 0, out, in, N, MPI_INT, MPI_SUM, WORLD);
}

// Rank r sends c + 1 ints to rank c, and takes r + 1 from each.
static void alltoalls(void)
{
    int equal[MOST], equal_starts[MOST];
    for (int i = 0; i < size; i++) {
        equal[i] = rank + 1;
        equal_starts[i] = i * (rank + 1);
    }
    long back = (long)size * (rank + 1);
    BOTH(MPI_Alltoallv, MPI_Ialltoallv, total, back, out, counts, starts, MPI_INT, in, equal, equal_starts, MPI_INT,
         WORLD);
    for (int i = 0; i < size; i++) {
        types[i] = MPI_INT;
        ones[i] = 1;
        places[i] = i * (int)sizeof(int);
    }
    BOTH(MPI_Alltoallw, MPI_Ialltoallw, size, size, out, ones, places, types, in, ones, places, types, WORLD);
}

static void in_place(int root)
{
    if (rank == root) {
        CALL(MPI_Gather, MPI_IN_PLACE, N, MPI_INT, in, N, MPI_INT, root, WORLD);
        CALL(MPI_Scatter, out, N, MPI_INT, MPI_IN_PLACE, N, MPI_INT, root, WORLD);
        CALL(MPI_Reduce, MPI_IN_PLACE, in, N, MPI_INT, MPI_SUM, root, WORLD);
    } else {
        CALL(MPI_Gather, out, N, MPI_INT, NULL, 0, MPI_INT, root, WORLD);
        CALL(MPI_Scatter, NULL, 0, MPI_INT, in, N, MPI_INT, root, WORLD);
        CALL(MPI_Reduce, out, NULL, N, MPI_INT, MPI_SUM, root, WORLD);
    }
    CALL(MPI_Allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, N, MPI_INT, WORLD);
    CALL(MPI_Allgatherv, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, starts, MPI_INT, WORLD);
    CALL(MPI_Alltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, N, MPI_INT, WORLD);
    CALL(MPI_Allreduce, MPI_IN_PLACE, in, N, MPI_INT, MPI_SUM, WORLD);
    CALL(MPI_Reduce_scatter_block, MPI_IN_PLACE, in, N, MPI_INT, MPI_SUM, WORLD);
    CALL(MPI_Scan, MPI_IN_PLACE, in, N, MPI_INT, MPI_SUM, WORLD);
    CALL(MPI_Exscan, MPI_IN_PLACE, in, N, MPI_INT, MPI_SUM, WORLD);
}

int main(int argc, char **argv)
{
    int provided;
    CALL(MPI_Init_thread, &argc, &argv, MPI_THREAD_FUNNELED, &provided);
    truth_begin();
    rank = truth.rank;
    size = truth.size;
    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        starts[i] = total;
        total += i + 1;
    }
    for (int root = 0; root < size; root++) {
        rooted(root);
        everywhere();
        alltoalls();
    }
    // With argument "inplace" only: the bytes that MPI moves then are not those of the plain form.
    if (argc > 1) in_place(size - 1);
    CALL(MPI_Finalize);
    truth_write();
    return 0;
}
