/* Collectives: bytes that one process contributes and is given. */
#include "calls/collective.h"

#include "calls/internal/rows.h"
#include "counters/counters.h"
#include "handles/comms.h"
#include "handles/count_arrays.h"
#include "handles/requests.h"
#include "ranks/sync.h"

struct move {
    uint64_t sent, received;
};

struct collective {
    const struct comm *comm;
    struct data *send, *recv;
    uint32_t peers;  /* processes that data comes from and goes to */
    bool root, idle; /* idle: in the root's group of an intercommunicator, but not the root */
};

static struct move rooted(const struct collective *c, uint64_t (*all)(const struct data *, uint32_t), bool gather)
{
    struct data *many = gather ? c->recv : c->send, *one = gather ? c->send : c->recv;
    bool inter = c->comm->remote_size != 0;
    uint64_t everything = 0, own = 0;
    if (c->idle) return (struct move){0, 0};
    if (c->root) everything = all ? all(many, c->peers) : data_bytes(many) * c->peers;
    if (c->root && !inter && data_in_place(one))
        own = all ? data_bytes_at(many, (uint32_t)c->comm->rank) : data_bytes(many);
    else if (!(c->root && inter))
        own = data_bytes(one);
    return gather ? (struct move){own, everything} : (struct move){everything, own};
}

static struct move neighbors(const struct collective *c, enum shape shape)
{
    int in, out;
    comms_degrees(c->comm->handle, &in, &out);
    switch (shape) {
    case SHAPE_NEIGHBOR_ALLGATHER:
        return (struct move){data_bytes(c->send), data_bytes(c->recv) * (uint64_t)in};
    case SHAPE_NEIGHBOR_ALLGATHERV:
        return (struct move){data_bytes(c->send), data_sum(c->recv, (uint32_t)in)};
    case SHAPE_NEIGHBOR_ALLTOALL:
        return (struct move){data_bytes(c->send) * (uint64_t)out, data_bytes(c->recv) * (uint64_t)in};
    case SHAPE_NEIGHBOR_ALLTOALLV:
        return (struct move){data_sum(c->send, (uint32_t)out), data_sum(c->recv, (uint32_t)in)};
    default:
        return (struct move){data_sum_types(c->send, (uint32_t)out), data_sum_types(c->recv, (uint32_t)in)};
    }
}

static struct move all_to_all(const struct collective *c, enum shape shape)
{
    bool in_place = data_in_place(c->send);
    const struct data *send = in_place ? c->recv : c->send, *recv = c->recv;
    uint32_t n = c->peers;
    switch (shape) {
    case SHAPE_ALLGATHER:
        return (struct move){data_bytes(send), data_bytes(recv) * n};
    case SHAPE_ALLGATHERV:
        return (struct move){in_place ? data_bytes_at(recv, (uint32_t)c->comm->rank) : data_bytes(send),
                             data_sum(recv, n)};
    case SHAPE_ALLTOALL:
        return (struct move){data_bytes(send) * n, data_bytes(recv) * n};
    case SHAPE_ALLTOALLV:
        return (struct move){data_sum(send, n), data_sum(recv, n)};
    default:
        return (struct move){data_sum_types(send, n), data_sum_types(recv, n)};
    }
}

static struct move reductions(const struct collective *c, enum shape shape)
{
    uint64_t bytes;
    switch (shape) {
    case SHAPE_REDUCE:
        if (c->idle) return (struct move){0, 0};
        bytes = data_bytes(c->recv);
        return (struct move){c->root && c->comm->remote_size ? 0 : bytes, c->root ? bytes : 0};
    case SHAPE_REDUCE_SCATTER:
        return (struct move){data_sum(c->recv, c->comm->size), data_bytes_at(c->recv, (uint32_t)c->comm->rank)};
    case SHAPE_REDUCE_SCATTER_BLOCK:
        bytes = data_bytes(c->recv);
        return (struct move){bytes * c->comm->size, bytes};
    case SHAPE_EXSCAN: /* nobody is before the first, whose buffer stays as it is */
        bytes = data_bytes(c->recv);
        return (struct move){bytes, c->comm->rank ? bytes : 0};
    default:
        bytes = data_bytes(c->recv);
        return (struct move){bytes, bytes};
    }
}

static struct move bytes_moved(const struct collective *c, enum shape shape)
{
    uint64_t bytes;
    switch (shape) {
    case SHAPE_BARRIER:
        return (struct move){0, 0};
    case SHAPE_BCAST:
        bytes = c->idle ? 0 : data_bytes(c->send);
        return c->root ? (struct move){bytes, 0} : (struct move){0, bytes};
    case SHAPE_GATHER:
        return rooted(c, NULL, true);
    case SHAPE_GATHERV:
        return rooted(c, data_sum, true);
    case SHAPE_SCATTER:
        return rooted(c, NULL, false);
    case SHAPE_SCATTERV:
        return rooted(c, data_sum, false);
    case SHAPE_ALLGATHER:
    case SHAPE_ALLGATHERV:
    case SHAPE_ALLTOALL:
    case SHAPE_ALLTOALLV:
    case SHAPE_ALLTOALLW:
        return all_to_all(c, shape);
    case SHAPE_REDUCE:
    case SHAPE_ALLREDUCE:
    case SHAPE_SCAN:
    case SHAPE_EXSCAN:
    case SHAPE_REDUCE_SCATTER:
    case SHAPE_REDUCE_SCATTER_BLOCK:
        return reductions(c, shape);
    default:
        return neighbors(c, shape);
    }
}

static bool has_root(enum shape shape)
{
    return (shape >= SHAPE_BCAST && shape <= SHAPE_SCATTERV) || shape == SHAPE_REDUCE;
}

static struct file_call collective_row(const struct frame *f, enum shape shape, struct data *send, struct data *recv,
                                       int root, word comm)
{
    struct file_call row = plain_row(f);
    if (f->result) return row;
    const struct comm *c = comms_find(comm);
    struct collective all = {.comm = c, .send = send, .recv = recv, .peers = c->remote_size ? c->remote_size : c->size};
    if (has_root(shape)) {
        row.peer = abi_peer(root);
        all.root = c->remote_size ? row.peer == PEER_ROOT : row.peer == c->rank;
        all.idle = c->remote_size && row.peer == PEER_PROC_NULL;
    }
    struct move move = bytes_moved(&all, shape);
    row.comm = c->index;
    row.sent = move.sent;
    row.received = move.received;
    return row;
}

/* Has this call made every rank wait for all others? Where there is something to receive, it depends on each of them.
 */
static bool joined_world(const struct frame *f, enum shape shape, const struct file_call *row)
{
    bool from_all = shape == SHAPE_ALLREDUCE || shape == SHAPE_ALLGATHER || shape == SHAPE_ALLTOALL ||
                    shape == SHAPE_REDUCE_SCATTER_BLOCK;
    return f->result == 0 && row->comm == COMM_INDEX_WORLD &&
           (shape == SHAPE_BARRIER || (from_all && row->received > 0));
}

void record_collective(const struct frame *f, enum shape shape, struct data send, struct data recv, int root, word comm)
{
    struct file_call row = collective_row(f, shape, &send, &recv, root, comm);
    thread_store_call(f->t, row);
    if (__builtin_expect(rotation_by_collectives, false) && row.comm == COMM_INDEX_WORLD) rotation_collective(f->t);
    if (__builtin_expect(__atomic_load_n(&sync_counts, __ATOMIC_RELAXED), false) && joined_world(f, shape, &row))
        sync_collective(f->t);
}

void record_icollective(const struct frame *f, enum shape shape, struct data send, struct data recv, int root,
                        word comm, word request)
{
    struct file_call row = collective_row(f, shape, &send, &recv, root, comm);
    thread_store_call(f->t, row);
    if (f->result == 0)
        requests_add(&(struct request){.handle = request,
                                       .posted = f->enter,
                                       .bytes = row.sent,
                                       .received = row.received,
                                       .comm = row.comm,
                                       .peer = row.peer,
                                       .tag = f->call,
                                       .kind = REQUEST_COLLECTIVE,
                                       .owned = owned_take(),
                                       .active = true});
}

/* Nothing moves before MPI_Start. */
void record_collective_init(const struct frame *f, enum shape shape, struct data send, struct data recv, int root,
                            word comm, word request)
{
    struct file_call row = collective_row(f, shape, &send, &recv, root, comm), stored = row;
    stored.sent = stored.received = 0;
    thread_store_call(f->t, stored);
    if (f->result == 0)
        requests_add(&(struct request){.handle = request,
                                       .bytes = row.sent,
                                       .received = row.received,
                                       .comm = row.comm,
                                       .peer = row.peer,
                                       .tag = f->call,
                                       .kind = REQUEST_COLLECTIVE,
                                       .owned = owned_take(),
                                       .persistent = true});
}
