// Neighbourhood collectives, blocking and nonblocking, on each kind of topology; and collectives between two groups,
// where one process is MPI_ROOT. Beside each stand the ints that this rank hands to MPI and takes from it.

#include "truth.h"

enum { N = 16, MOST = 64 };

static const long INT = sizeof(int);
static int out[MOST * N], in[MOST * N], rank, size;
static MPI_Request request;

#define BOTH(BLOCKING, NONBLOCKING, sent, received, ...)                                                               \
    do {                                                                                                               \
        CALL(BLOCKING, __VA_ARGS__);                                                                                   \
        truth_moved(#BLOCKING, (sent) * INT, (received) * INT);                                                        \
        CALL(NONBLOCKING, __VA_ARGS__, &request);                                                                      \
        truth_moved(#NONBLOCKING, (sent) * INT, (received) * INT);                                                     \
        CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);                                                                   \
    } while (0)

// With `from` neighbours to receive from and `to` to send to.
static void exchange(MPI_Comm comm, int from, int to)
{
    MPI_Datatype types[8];
    int two[8], place[8];
    MPI_Aint bytes[8];
    for (int i = 0; i < 8; i++) {
        types[i] = MPI_INT;
        two[i] = 2;
        place[i] = 2 * i;
        bytes[i] = 2 * i * INT;
    }
    BOTH(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, N, N * from, out, N, MPI_INT, in, N, MPI_INT, comm);
    BOTH(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, 2, 2 * from, out, 2, MPI_INT, in, two, place, MPI_INT,
         comm);
    BOTH(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, N * to, N * from, out, N, MPI_INT, in, N, MPI_INT, comm);
    BOTH(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, 2 * to, 2 * from, out, two, place, MPI_INT, in, two, place,
         MPI_INT, comm);
    BOTH(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, 2 * to, 2 * from, out, two, bytes, types, in, two, bytes,
         types, comm);
    CALL(MPI_Comm_free, &comm);
}

static void topologies(void)
{
    MPI_Comm comm;
    int wrap = 1, next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int sources[2] = {rank, previous}, index[MOST], edges[2 * MOST], degree = 1, target = next, left, right;
    CALL(MPI_Cart_create, MPI_COMM_WORLD, 1, &size, &wrap, 0, &comm);
    CALL(MPI_Cart_shift, comm, 0, 1, &left, &right);
    exchange(comm, 2, 2);
    for (int i = 0; i < size; i++) { // a ring
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + size - 1) % size;
        edges[2 * i + 1] = (i + 1) % size;
    }
    CALL(MPI_Graph_create, MPI_COMM_WORLD, size, index, edges, 0, &comm);
    exchange(comm, 2, 2);
    CALL(MPI_Dist_graph_create_adjacent, MPI_COMM_WORLD, 1, &previous, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
         MPI_INFO_NULL, 0, &comm);
    exchange(comm, 1, 1);
    CALL(MPI_Dist_graph_create, MPI_COMM_WORLD, 1, &rank, &degree, &target, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    exchange(comm, 1, 1);
}

// The last rank is one side, all others are the other. It is the root of what goes between the sides.
static void two_sides(void)
{
    MPI_Comm side, inter;
    int alone = rank == size - 1, others = size - 1, peers = alone ? others : 1;
    CALL(MPI_Comm_split, MPI_COMM_WORLD, alone, 0, &side);
    CALL(MPI_Intercomm_create, side, 0, MPI_COMM_WORLD, alone ? 0 : size - 1, 9, &inter);
    int root = alone ? MPI_ROOT : 0;
    BOTH(MPI_Bcast, MPI_Ibcast, alone ? N : 0, alone ? 0 : N, out, N, MPI_INT, root, inter);
    BOTH(MPI_Gather, MPI_Igather, alone ? 0 : N, alone ? N * others : 0, out, N, MPI_INT, in, N, MPI_INT, root, inter);
    BOTH(MPI_Scatter, MPI_Iscatter, alone ? N * others : 0, alone ? 0 : N, out, N, MPI_INT, in, N, MPI_INT, root,
         inter);
    BOTH(MPI_Reduce, MPI_Ireduce, alone ? 0 : N, alone ? N : 0, out, in, N, MPI_INT, MPI_SUM, root, inter);
    // From the first of the others: his companions are MPI_PROC_NULL.
    int to_alone = alone ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    BOTH(MPI_Bcast, MPI_Ibcast, rank == 0 ? N : 0, alone ? N : 0, out, N, MPI_INT, to_alone, inter);
    BOTH(MPI_Barrier, MPI_Ibarrier, 0, 0, inter);
    BOTH(MPI_Allgather, MPI_Iallgather, N, N * peers, out, N, MPI_INT, in, N, MPI_INT, inter);
    BOTH(MPI_Alltoall, MPI_Ialltoall, N * peers, N * peers, out, N, MPI_INT, in, N, MPI_INT, inter);
    BOTH(MPI_Allreduce, MPI_Iallreduce, N, N, out, in, N, MPI_INT, MPI_SUM, inter);
    CALL(MPI_Comm_free, &inter);
    CALL(MPI_Comm_free, &side);
}

int main(int argc, char **argv)
{
    CALL(MPI_Init, &argc, &argv);
    truth_begin();
    rank = truth.rank;
    size = truth.size;
    topologies();
    two_sides();
    CALL(MPI_Finalize);
    truth_write();
    return 0;
}
