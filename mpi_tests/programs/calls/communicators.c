// Communicators of every making, messages in each of them, and their end. Run with an even number of ranks.

#include "truth.h"

static int out[MESSAGE_INTS], in[MESSAGE_INTS];
static int tag = 100;

// Everybody to his right-hand neighbour in `comm`; in an intercommunicator to his like on the other side.
static void round_in(MPI_Comm comm)
{
    int rank, size, inter;
    MPI_Request request;
    CALL(MPI_Comm_rank, comm, &rank);
    CALL(MPI_Comm_size, comm, &size);
    CALL(MPI_Comm_test_inter, comm, &inter);
    int dest = inter ? rank : (rank + 1) % size, source = inter ? rank : (rank + size - 1) % size;
    CALL(MPI_Irecv, in, MESSAGE_INTS, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
    CALL(MPI_Send, outgoing(out, comm, dest, tag, 10), 10, MPI_INT, dest, tag, comm);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    incoming(in, comm);
    CALL(MPI_Sendrecv, outgoing(out, comm, dest, tag + 1, 11), 11, MPI_INT, dest, tag + 1, in, MESSAGE_INTS, MPI_INT,
         source, tag + 1, comm, MPI_STATUS_IGNORE);
    incoming(in, comm);
    CALL(MPI_Barrier, comm);
    tag += 2;
}

// All ranks call it, those outside with MPI_COMM_NULL, so that the tags stay the same everywhere.
static void use(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL) {
        tag += 2;
        return;
    }
    round_in(comm);
    CALL(MPI_Comm_free, &comm);
}

static void copies(void)
{
    MPI_Comm one, two;
    MPI_Request request;
    MPI_Info info;
    CALL(MPI_Comm_dup, MPI_COMM_WORLD, &one);
    CALL(MPI_Comm_dup, one, &two); // a copy of a copy: same members, another communicator
    CALL(MPI_Comm_set_name, one, "halo exchange");
    CALL(MPI_Comm_set_name, two, "first name");
    CALL(MPI_Comm_set_name, two, "second name");
    CALL(MPI_Comm_set_name, MPI_COMM_WORLD, "everybody");
    round_in(one);
    use(two);
    use(one);
    CALL(MPI_Comm_idup, MPI_COMM_WORLD, &one, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    use(one);
    CALL(MPI_Info_create, &info);
    CALL(MPI_Comm_dup_with_info, MPI_COMM_WORLD, info, &one);
    use(one);
#if MPI_VERSION >= 4
    CALL(MPI_Comm_idup_with_info, MPI_COMM_WORLD, info, &one, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    use(one);
#endif
    CALL(MPI_Info_free, &info);
    CALL(MPI_Comm_dup, MPI_COMM_SELF, &one);
    use(one);
}

static void parts(void)
{
    MPI_Comm part, nested;
    MPI_Group world, group;
    CALL(MPI_Comm_split, MPI_COMM_WORLD, truth.rank % 2, -truth.rank, &part); // in reverse order
    CALL(MPI_Comm_split, part, 0, 0, &nested);
    use(nested);
    use(part);
    CALL(MPI_Comm_split, MPI_COMM_WORLD, truth.rank ? 1 : MPI_UNDEFINED, 0, &part); // not for rank 0
    use(part);
    CALL(MPI_Comm_split_type, MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
    use(part);

    CALL(MPI_Comm_group, MPI_COMM_WORLD, &world);
    CALL(MPI_Group_excl, world, 1, &(int){0}, &group);
    CALL(MPI_Comm_create, MPI_COMM_WORLD, group, &part);
    use(part);
    part = MPI_COMM_NULL;
    if (truth.rank) CALL(MPI_Comm_create_group, MPI_COMM_WORLD, group, 7, &part); // only members call it
    use(part);
    CALL(MPI_Group_free, &group);
    CALL(MPI_Group_free, &world);
}

static void topologies(void)
{
    MPI_Comm comm, row;
    int dims[2] = {0, 0}, wrap[2] = {1, 1}, keep[2] = {0, 1};
    int next = (truth.rank + 1) % truth.size, previous = (truth.rank + truth.size - 1) % truth.size;
    CALL(MPI_Dims_create, truth.size, 2, dims);
    CALL(MPI_Cart_create, MPI_COMM_WORLD, 2, dims, wrap, 0, &comm);
    CALL(MPI_Cart_sub, comm, keep, &row);
    use(row);
    use(comm);
    CALL(MPI_Dist_graph_create_adjacent, MPI_COMM_WORLD, 1, &previous, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
         MPI_INFO_NULL, 0, &comm);
    use(comm);
}

static void two_sides(void)
{
    MPI_Comm side, inter, merged;
    int second = truth.rank >= truth.size / 2;
    CALL(MPI_Comm_split, MPI_COMM_WORLD, second, 0, &side);
    CALL(MPI_Intercomm_create, side, 0, MPI_COMM_WORLD, second ? 0 : truth.size / 2, 9, &inter);
    round_in(inter);
    CALL(MPI_Intercomm_merge, inter, second, &merged);
    use(merged);
    CALL(MPI_Comm_dup, inter, &merged);
    use(merged);
    use(inter);
    use(side);
}

int main(int argc, char **argv)
{
    CALL(MPI_Init, &argc, &argv);
    truth_begin();
    for (int round = 0; round < 3; round++) { // handles are used again
        copies();
        parts();
        topologies();
        two_sides();
    }
    CALL(MPI_Finalize);
    truth_write();
    return 0;
}
