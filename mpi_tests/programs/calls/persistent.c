// Persistent collectives (MPI 4), each started several times, alone and with others; and neighbourhood collectives in
// all their forms. Beside each stand the ints that this rank hands to MPI and takes from it at every start.

#include "truth.h"

enum { N = 16, MOST = 64, STARTS = 3 };

static const long INT = sizeof(int);
static int out[MOST * N], in[MOST * N], counts[MOST], starts[MOST], equal[MOST], equal_starts[MOST];
static int rank, size, total;
static MPI_Request request;

static void run(const char *name, long sent, long received)
{
    for (int i = 0; i < STARTS; i++) {
        int flag = 0;
        CALL(MPI_Start, &request);
        truth_moved(name, sent * INT, received * INT);
        truth_moved("MPI_Start", sent * INT, received * INT);
        if (rank % 2)
            CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
        else
            while (!flag) CALL(MPI_Test, &request, &flag, MPI_STATUS_IGNORE);
    }
    CALL(MPI_Request_free, &request);
}

#define PERSISTENT(NAME, sent, received, ...)                                                                          \
    do {                                                                                                               \
        CALL(NAME, __VA_ARGS__, MPI_INFO_NULL, &request);                                                              \
        run(#NAME, sent, received);                                                                                    \
    } while (0)

static void rooted(int root, MPI_Comm comm)
{
    int here = rank == root;
    PERSISTENT(MPI_Bcast_init, here ? N : 0, here ? 0 : N, out, N, MPI_INT, root, comm);
    PERSISTENT(MPI_Gather_init, N, here ? N * size : 0, out, N, MPI_INT, in, N, MPI_INT, root, comm);
    PERSISTENT(MPI_Gatherv_init, rank + 1, here ? total : 0, out, rank + 1, MPI_INT, in, counts, starts, MPI_INT, root,
               comm);
    PERSISTENT(MPI_Scatter_init, here ? N * size : 0, N, out, N, MPI_INT, in, N, MPI_INT, root, comm);
    PERSISTENT(MPI_Scatterv_init, here ? total : 0, rank + 1, out, counts, starts, MPI_INT, in, rank + 1, MPI_INT, root,
               comm);
    PERSISTENT(MPI_Reduce_init, N, here ? N : 0, out, in, N, MPI_INT, MPI_SUM, root, comm);
}

static void everywhere(MPI_Comm comm)
{
    MPI_Datatype types[MOST];
    int ones[MOST], places[MOST];
    for (int i = 0; i < size; i++) {
        types[i] = MPI_INT;
        ones[i] = 1;
        places[i] = i * (int)sizeof(int);
    }
    long back = (long)size * (rank + 1);
    PERSISTENT(MPI_Barrier_init, 0, 0, comm);
    PERSISTENT(MPI_Allgather_init, N, N * size, out, N, MPI_INT, in, N, MPI_INT, comm);
    PERSISTENT(MPI_Allgatherv_init, rank + 1, total, out, rank + 1, MPI_INT, in, counts, starts, MPI_INT, comm);
    PERSISTENT(MPI_Alltoall_init, N * size, N * size, out, N, MPI_INT, in, N, MPI_INT, comm);
    PERSISTENT(MPI_Alltoallv_init, total, back, out, counts, starts, MPI_INT, in, equal, equal_starts, MPI_INT, comm);
    PERSISTENT(MPI_Alltoallw_init, size, size, out, ones, places, types, in, ones, places, types, comm);
    PERSISTENT(MPI_Allreduce_init, N, N, out, in, N, MPI_INT, MPI_SUM, comm);
    PERSISTENT(MPI_Reduce_scatter_init, total, rank + 1, out, in, counts, MPI_INT, MPI_SUM, comm);
    PERSISTENT(MPI_Reduce_scatter_block_init, N * size, N, out, in, N, MPI_INT, MPI_SUM, comm);
    PERSISTENT(MPI_Scan_init, N, N, out, in, N, MPI_INT, MPI_SUM, comm);
    PERSISTENT(MPI_Exscan_init, N, rank ? N : 0, out, in, N, MPI_INT, MPI_SUM, comm);
}

// In a ring with an own edge to oneself: three neighbours to send to, three to receive from.
static void neighborhoods(void)
{
    enum { DEGREE = 3 };
    MPI_Comm ring;
    MPI_Datatype types[DEGREE] = {MPI_INT, MPI_INT, MPI_INT};
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int to[DEGREE] = {next, previous, rank}, from[DEGREE] = {previous, next, rank};
    int one[DEGREE] = {2, 2, 2}, place[DEGREE] = {0, 2, 4};
    MPI_Aint byte_place[DEGREE] = {0, 8, 16};
    CALL(MPI_Dist_graph_create_adjacent, MPI_COMM_WORLD, DEGREE, from, MPI_UNWEIGHTED, DEGREE, to, MPI_UNWEIGHTED,
         MPI_INFO_NULL, 0, &ring);
    PERSISTENT(MPI_Neighbor_allgather_init, N, N * DEGREE, out, N, MPI_INT, in, N, MPI_INT, ring);
    PERSISTENT(MPI_Neighbor_allgatherv_init, 2, 2 * DEGREE, out, 2, MPI_INT, in, one, place, MPI_INT, ring);
    PERSISTENT(MPI_Neighbor_alltoall_init, N * DEGREE, N * DEGREE, out, N, MPI_INT, in, N, MPI_INT, ring);
    PERSISTENT(MPI_Neighbor_alltoallv_init, 2 * DEGREE, 2 * DEGREE, out, one, place, MPI_INT, in, one, place, MPI_INT,
               ring);
    PERSISTENT(MPI_Neighbor_alltoallw_init, 2 * DEGREE, 2 * DEGREE, out, one, byte_place, types, in, one, byte_place,
               types, ring);
    CALL(MPI_Comm_free, &ring);
}

// Several at once: the calls that start and complete them show none, `requests` all.
static void together(void)
{
    MPI_Request both[2];
    CALL(MPI_Allreduce_init, out, in, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
    CALL(MPI_Bcast_init, in + N, N, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
    for (int i = 0; i < STARTS; i++) {
        CALL(MPI_Startall, 2, both);
        truth_moved("MPI_Allreduce_init", N * INT, N * INT);
        truth_moved("MPI_Bcast_init", rank == 0 ? N * INT : 0, rank == 0 ? 0 : N * INT);
        CALL(MPI_Waitall, 2, both, MPI_STATUSES_IGNORE);
    }
    CALL(MPI_Request_free, &both[0]);
    CALL(MPI_Request_free, &both[1]);
}

int main(int argc, char **argv)
{
    CALL(MPI_Init, &argc, &argv);
    truth_begin();
    rank = truth.rank;
    size = truth.size;
    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        starts[i] = total;
        total += i + 1;
        equal[i] = rank + 1;
        equal_starts[i] = i * (rank + 1);
    }
    rooted(size - 1, MPI_COMM_WORLD);
    everywhere(MPI_COMM_WORLD);
    neighborhoods();
    together();
    CALL(MPI_Finalize);
    truth_write();
    return 0;
}
