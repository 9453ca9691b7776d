/* Partitioned communication (MPI 4): one message a start, whose data are handed over in pieces.
 *
 * Both sides are matched when their requests are made, in that order, and for good (MPI 4.1, section 4.2): of several
 * with one communicator, peer and tag the ordinal says which belong together. */
#include "calls/partitioned.h"

#include "calls/data_bytes.h"
#include "calls/internal/rows.h"
#include "handles/comms.h"

void record_partitioned_init(const struct frame *f, struct partitioned p, word request)
{
    struct file_call row = plain_row(f);
    if (f->result == 0) {
        const struct comm *comm = comms_find(p.comm);
        row.comm = comm->index;
        row.peer = abi_peer(p.peer);
        row.tag = p.tag;
        uint64_t bytes = row.peer >= 0 ? type_bytes(p.count, p.type) : 0,
                 what = (uint64_t)p.kind << 32 | (uint32_t)p.tag;
        requests_add(&(struct request){.handle = request,
                                       .bytes = bytes * (uint64_t)p.partitions,
                                       .partition_bytes = bytes,
                                       .comm = row.comm,
                                       .peer = row.peer,
                                       .tag = row.tag,
                                       .kind = p.kind,
                                       .ordinal = (uint8_t)comms_count(comm, row.peer, what),
                                       .persistent = true});
    }
    thread_store_call(f->t, row);
}

static struct file_call row_of_partition_call(const struct frame *f, word request, struct request *r)
{
    struct file_call row = plain_row(f);
    *r = (struct request){.peer = PEER_NONE};
    if (f->result || !requests_look((struct held_request){request, 0}, r)) return row;
    row.comm = r->comm;
    row.peer = r->peer;
    row.tag = r->tag;
    return row;
}

void record_pready(const struct frame *f, word request, int64_t partitions)
{
    struct request r;
    struct file_call row = row_of_partition_call(f, request, &r);
    if (partitions > 0) row.sent = r.partition_bytes * (uint64_t)partitions;
    thread_store_call(f->t, row);
}

void record_parrived(const struct frame *f, word request)
{
    struct request r;
    thread_store_call(f->t, row_of_partition_call(f, request, &r));
}
