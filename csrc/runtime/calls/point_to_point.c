/* Blocking and posted point-to-point calls, and probes. */
#include "calls/point_to_point.h"

#include "calls/errors.h"
#include "calls/internal/rows.h"
#include "handles/comms.h"

static int32_t stored_tag(int tag)
{
    return tag == abi.any_tag ? -1 : tag;
}

static struct file_request received_row(const struct frame *f, uint64_t posted, uint32_t comm, const void *status)
{
    return (struct file_request){.posted = posted,
                                 .completed = f->exit,
                                 .bytes = abi_status_bytes(status),
                                 .comm = comm,
                                 .peer = abi_peer(abi_status_source(status)),
                                 .tag = stored_tag(abi_status_tag(status)),
                                 .what = WHAT_RECEIVED};
}

void record_send(const struct frame *f, const struct data *data, int dest, int tag, word comm)
{
    struct file_call row = plain_row(f);
    if (__builtin_expect(f->result == 0, 1)) {
        row.comm = comms_find(comm)->index;
        row.peer = abi_peer(dest);
        row.tag = tag;
        if (row.peer >= 0) row.sent = data_bytes(data);
    }
    thread_store_call(f->t, row);
}

void record_recv(const struct frame *f, word comm, const void *status)
{
    struct file_call row = plain_row(f);
    if (has_received(f)) {
        row.comm = comms_find(comm)->index;
        row.peer = abi_peer(abi_status_source(status));
        row.tag = stored_tag(abi_status_tag(status));
        if (row.peer >= 0) row.received = abi_status_bytes(status);
    }
    thread_store_call(f->t, row);
}

void record_sendrecv(const struct frame *f, const struct data *data, int dest, int tag, word comm, const void *status)
{
    struct file_call row = plain_row(f);
    if (has_received(f)) {
        row.comm = comms_find(comm)->index;
        row.peer = abi_peer(dest);
        row.tag = tag;
        if (row.peer >= 0) row.sent = data_bytes(data);
        struct file_request half = received_row(f, f->enter, row.comm, status);
        if (half.peer >= 0) {
            row.received = half.bytes;
            thread_store_call(f->t, row);
            thread_store_request(f->t, half);
            return;
        }
    }
    thread_store_call(f->t, row);
}

/* Store the row of a posting call; true if there is an operation to be remembered. */
static inline bool store_posting(const struct frame *f, enum request_kind kind, const struct data *data, int peer,
                                 int tag, word comm, bool moves, struct file_call *row)
{
    *row = plain_row(f);
    if (__builtin_expect(f->result == 0, 1)) {
        row->comm = comms_find(comm)->index;
        row->peer = abi_peer(peer);
        row->tag = kind == REQUEST_SEND ? tag : stored_tag(tag);
        if (kind == REQUEST_SEND && row->peer >= 0) row->sent = data_bytes(data);
    }
    struct file_call stored = *row;
    if (!moves) stored.sent = 0; /* nothing moves before MPI_Start */
    thread_store_call(f->t, stored);
    return f->result == 0;
}

static inline void remember(const struct frame *f, enum request_kind kind, const struct file_call *row, word handle,
                            bool persistent)
{
    struct request *r = requests_open(handle);
    if (!r) return;
    *r = (struct request){.handle = handle,
                          .posted = f->enter,
                          .bytes = row->sent,
                          .comm = row->comm,
                          .peer = row->peer,
                          .tag = row->tag,
                          .kind = kind,
                          .call = f->call,
                          .persistent = persistent,
                          .active = !persistent};
    requests_close();
}

void record_post(const struct frame *f, enum request_kind kind, const struct data *data, int peer, int tag, word comm,
                 word request)
{
    struct file_call row;
    if (store_posting(f, kind, data, peer, tag, comm, true, &row)) remember(f, kind, &row, request, false);
}

void record_persistent(const struct frame *f, enum request_kind kind, const struct data *data, int peer, int tag,
                       word comm, word request)
{
    struct file_call row;
    if (store_posting(f, kind, data, peer, tag, comm, false, &row)) remember(f, kind, &row, request, true);
}

/* One request for both halves: the row has the send, the request completes the receive. */
void record_isendrecv(const struct frame *f, struct data data, int dest, int tag, struct data receive, int source,
                      int receive_tag, word comm, word request)
{
    struct file_call row;
    if (!store_posting(f, REQUEST_SEND, &data, dest, tag, comm, true, &row)) return;
    int32_t peer = abi_peer(source);
    requests_add(&(struct request){.handle = request,
                                   .posted = f->enter,
                                   .bytes = peer == PEER_PROC_NULL ? 0 : data_bytes(&receive),
                                   .comm = row.comm,
                                   .peer = peer,
                                   .tag = stored_tag(receive_tag),
                                   .kind = REQUEST_RECV,
                                   .call = f->call,
                                   .active = true,
                                   .posted_both = true});
}

void record_probe(const struct frame *f, word comm, const void *status)
{
    struct file_call row = plain_row(f);
    if (f->result == 0) {
        row.comm = comms_find(comm)->index;
        row.peer = abi_peer(abi_status_source(status));
        row.tag = stored_tag(abi_status_tag(status));
    }
    thread_store_call(f->t, row);
}

/* A matched message is received in the order of the probes: remember when it was matched. */
void record_mprobe(const struct frame *f, word comm, word message, const void *status)
{
    record_probe(f, comm, status);
    if (f->result == 0 && message != abi.message_null && message != abi.message_no_proc)
        requests_add(&(struct request){.handle = message,
                                       .posted = f->enter,
                                       .comm = comms_find(comm)->index,
                                       .peer = abi_peer(abi_status_source(status)),
                                       .tag = stored_tag(abi_status_tag(status)),
                                       .kind = REQUEST_RECV,
                                       .call = f->call,
                                       .active = true});
}

void record_mrecv(const struct frame *f, struct held_request message, const void *status)
{
    struct request matched = {.posted = f->enter};
    struct file_call row = plain_row(f);
    bool known = requests_take(message, &matched);
    if (!has_received(f)) {
        thread_store_call(f->t, row);
        return;
    }
    struct file_request half = received_row(f, matched.posted, matched.comm, status);
    row.comm = half.comm;
    row.peer = half.peer;
    row.tag = half.tag;
    if (half.peer >= 0) row.received = half.bytes;
    thread_store_call(f->t, row);
    if (known && half.peer >= 0) thread_store_request(f->t, half);
}

void record_imrecv(const struct frame *f, struct held_request message, word request)
{
    struct request matched = {
        .posted = f->enter, .peer = PEER_NONE, .tag = -1, .kind = REQUEST_RECV, .call = f->call, .active = true};
    struct file_call row = plain_row(f);
    requests_take(message, &matched);
    row.comm = matched.comm;
    thread_store_call(f->t, row);
    matched.handle = request;
    if (f->result == 0) requests_add(&matched);
}
