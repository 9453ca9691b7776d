// Nothing but sessions: one, two in sequence, two at once; or MPI_Init comes after one. The first argument says which.

#include "truth.h"

#include <unistd.h>

static int out[MESSAGE_INTS], in[MESSAGE_INTS];

struct part {
    MPI_Session session;
    MPI_Group world;
    MPI_Comm all;
};

static struct part begin(const char *tag)
{
    struct part p;
    CALL(MPI_Session_init, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &p.session);
    CALL(MPI_Group_from_session_pset, p.session, "mpi://WORLD", &p.world);
    truth_begin_session(p.world);
    CALL(MPI_Comm_create_from_group, p.world, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &p.all);
    return p;
}

static void end(struct part *p)
{
    CALL(MPI_Comm_free, &p->all);
    CALL(MPI_Group_free, &p->world);
    CALL(MPI_Session_finalize, &p->session);
}

static void ring(MPI_Comm comm, int tag)
{
    int rank, size;
    MPI_Request request;
    CALL(MPI_Comm_rank, comm, &rank);
    CALL(MPI_Comm_size, comm, &size);
    CALL(MPI_Irecv, in, MESSAGE_INTS, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
    outgoing(out, comm, (rank + 1) % size, tag, 10);
    CALL(MPI_Send, out, 10, MPI_INT, (rank + 1) % size, tag, comm);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    incoming(in, comm);
    CALL(MPI_Barrier, comm);
}

// Two halves of the world, each made from its group under the same text, and a copy.
static void halves(struct part *p)
{
    MPI_Group half;
    MPI_Comm comm, copy;
    int range[1][3] = {{truth.rank % 2, truth.size - 1, 2}};
    CALL(MPI_Group_range_incl, p->world, 1, range, &half);
    CALL(MPI_Comm_create_from_group, half, "half", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    CALL(MPI_Comm_dup, comm, &copy);
    ring(comm, 5);
    ring(copy, 6);
    CALL(MPI_Comm_free, &copy);
    CALL(MPI_Comm_free, &comm);
    CALL(MPI_Group_free, &half);
}

static void in_sequence(int times)
{
    for (int i = 0; i < times; i++) {
        struct part p = begin("all");
        ring(p.all, i);
        halves(&p);
        end(&p);
    }
}

static void at_once(void)
{
    struct part a = begin("a"), b = begin("b");
    ring(a.all, 1);
    ring(b.all, 2);
    end(&a);
    truth_begin_session(b.world);
    ring(b.all, 3);
    end(&b);
}

static void beside_init(int *argc, char ***argv)
{
    struct part p = begin("all");
    ring(p.all, 1);
    CALL(MPI_Init, argc, argv);
    ring(MPI_COMM_WORLD, 2);
    end(&p);
    truth_world_of_session = 0;
    ring(MPI_COMM_WORLD, 3);
    CALL(MPI_Finalize);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "once";
    if (!strcmp(how, "once")) in_sequence(1);
    if (!strcmp(how, "twice")) in_sequence(2);
    if (!strcmp(how, "at-once")) at_once();
    if (!strcmp(how, "beside")) beside_init(&argc, &argv);
    if (!strcmp(how, "abort")) {
        struct part p = begin("all");
        ring(p.all, 1);
        truth_write();
        if (truth.rank == 0) MPI_Abort(p.all, 5);
        sleep(3);
    }
    truth_write();
    return 0;
}
