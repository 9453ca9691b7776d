/* Calls that start, complete, cancel or free requests. */
#include "calls/completion.h"

#include "calls/internal/rows.h"
#include "calls/timed.h"
#include "handles/comms.h"
#include "handles/count_arrays.h"
#include "mpi/pmpi.h"

static const void *status_of(const void *statuses, int i)
{
    return (const char *)statuses + (uint64_t)i * abi.status_bytes;
}

static uint64_t bytes_of(const struct request *r)
{
    return r->kind == REQUEST_COLLECTIVE ? r->bytes + r->received : r->bytes;
}

/* Field by field, where the row stays: to copy a row that was just written would take longer than all of this. */
static inline void fill_row(struct file_request *row, const struct request *r, unsigned what)
{
    row->posted = r->posted;
    row->completed = 0;
    row->bytes = bytes_of(r);
    row->comm = r->comm;
    row->peer = r->peer;
    row->tag = r->tag;
    row->what = (uint16_t)(what | (unsigned)r->ordinal << WHAT_ORDINAL_SHIFT);
    row->thread = 0;
}

static struct file_request row_of_request(const struct request *r, unsigned what)
{
    struct file_request row;
    fill_row(&row, r, what);
    return row;
}

/* Actual source, tag and bytes. MPICH (under its own ABI and the standard one) leaves an old status behind where
 * MPI_Isendrecv completes: it is believed only if it fits what was posted, and else the posted receive stands. */
static inline void take_status(struct file_request *row, const struct request *r, const void *status)
{
    int32_t peer = abi_peer(abi_status_source(status)), tag = abi_status_tag(status);
    if (tag == abi.any_tag) tag = -1;
    if (r->posted_both && abi.family != FAMILY_OPEN_MPI && r->peer != PEER_ANY_SOURCE && r->tag >= 0 &&
        (peer != r->peer || tag != r->tag || abi_status_bytes(status) > r->bytes))
        return;
    row->peer = peer;
    row->tag = tag;
    row->bytes = peer >= 0 ? abi_status_bytes(status) : 0;
}

/* Fill in the row of a completed operation; a receive takes the truth from its status. */
static inline void fill_completed(struct file_request *row, const struct frame *f, const struct request *r,
                                  const void *status)
{
    static const uint16_t done[] = {
        [REQUEST_SEND] = WHAT_SEND_DONE,
        [REQUEST_RECV] = WHAT_RECV_DONE,
        [REQUEST_COLLECTIVE] = WHAT_COLLECTIVE_DONE,
        [REQUEST_COMM] = WHAT_COLLECTIVE_DONE,
        [REQUEST_RMA] = WHAT_RMA_DONE,
        [REQUEST_READ] = WHAT_READ_DONE,
        [REQUEST_WRITE] = WHAT_WRITE_DONE,
        [REQUEST_PARTITIONED_SEND] = WHAT_PARTITIONED_SEND_DONE,
        [REQUEST_PARTITIONED_RECV] = WHAT_PARTITIONED_RECV_DONE,
        [REQUEST_OTHER] = WHAT_OTHER_DONE,
    };
    fill_row(row, r, done[r->kind]);
    row->completed = f->exit;
    row->thread = (uint16_t)f->t->index;
    if (r->cancelling && r->kind <= REQUEST_RECV && abi_status_cancelled(status)) /* others stay what they are */
        row->what = r->kind == REQUEST_SEND ? WHAT_SEND_CANCELLED : WHAT_RECV_CANCELLED;
    else if (r->kind == REQUEST_RECV && r->peer != PEER_PROC_NULL)
        take_status(row, r, status);
    else if (r->kind == REQUEST_READ || r->kind == REQUEST_WRITE)
        row->bytes = abi_status_bytes(status);
}

/* Take the operation behind a handle out of the table and store its completion. NULL: there was none (a null or
 * inactive request, or one of a kind that is not followed). */
static const struct file_request *complete_request(const struct frame *f, struct held_request held, const void *status)
{
    if (held.handle == abi.request_null) return NULL;
    struct file_request *row = thread_row(f->t, TABLE_REQUESTS); /* a flush comes before other threads have to wait */
    struct request *r = requests_find_active(held);
    if (!r) return NULL;
    const uint16_t posted_by = r->call;
    fill_completed(row, f, r, status);
    struct owned *owned = r->persistent ? NULL : r->owned;
    if (__builtin_expect(r->kind == REQUEST_COMM, false)) {
        struct request made = *r;
        requests_complete(r);
        comms_promised(made.fortran ? abi_comm_f2c(made.newcomm) : abi_handle(made.newcomm), made.new_id);
    } else {
        requests_complete(r);
    }
    if (owned) owned_free(owned);
    if (__builtin_expect(!f->t->mode, 1) || switch_keeps_request(f->t, row, posted_by))
        thread_commit(f->t, TABLE_REQUESTS);
    return row;
}

/* A call that completes one operation shows it in its own row. The tag of a collective is none. */
static void store_with(const struct frame *f, const struct file_request *r)
{
    bool has_tag = r && r->what != WHAT_COLLECTIVE_DONE;
    bool received = r && (r->what == WHAT_RECV_DONE || r->what == WHAT_READ_DONE);
    thread_store_call(f->t, (struct file_call){.enter = f->enter,
                                               .exit = f->exit,
                                               .received = received ? r->bytes : 0,
                                               .comm = r ? r->comm : 0,
                                               .peer = r ? r->peer : PEER_NONE,
                                               .tag = has_tag ? r->tag : -1,
                                               .call = f->call});
}

/* Start the operation behind a handle; the call's row shows it where it is the only one. The data of a partitioned
 * send are handed over later. */
static void start_request(const struct frame *f, struct held_request held, struct file_call *call,
                          struct file_request *row)
{
    static const uint16_t started[REQUEST_OTHER + 1] = {
        [REQUEST_SEND] = WHAT_SEND_STARTED,
        [REQUEST_RECV] = WHAT_RECV_STARTED,
        [REQUEST_COLLECTIVE] = WHAT_COLLECTIVE_STARTED,
        [REQUEST_PARTITIONED_SEND] = WHAT_PARTITIONED_SEND_STARTED,
        [REQUEST_PARTITIONED_RECV] = WHAT_PARTITIONED_RECV_STARTED,
    };
    struct request r;
    row->what = 0;
    if (!requests_start_persistent(held, f->enter, f->call, &r)) return;
    call->comm = r.comm;
    call->peer = r.peer;
    if (r.kind != REQUEST_COLLECTIVE) call->tag = r.tag;
    if (r.kind == REQUEST_SEND || r.kind == REQUEST_COLLECTIVE) call->sent = r.bytes;
    if (r.kind == REQUEST_COLLECTIVE) call->received = r.received;
    if (started[r.kind]) *row = row_of_request(&r, started[r.kind]);
}

void record_start(const struct frame *f, const struct held_request *handles, int n)
{
    struct file_call call = plain_row(f);
    struct file_request row;
    if (f->result || !handles) n = 0;
    if (n == 1) {
        start_request(f, handles[0], &call, &row);
        thread_store_call(f->t, call);
        if (row.what) thread_store_request(f->t, row);
        return;
    }
    thread_store_call(f->t, call);
    for (int i = 0; i < n; i++) {
        start_request(f, handles[i], &call, &row);
        if (row.what) thread_store_request(f->t, row);
    }
}

/* A status that is no address is one more reason for an MPI to refuse the call; the operation goes on. */
void record_wait(const struct frame *f, struct held_request held, const void *status)
{
    store_with(f, status ? complete_request(f, held, status) : NULL);
}

void record_waitany(const struct frame *f, const struct held_request *handles, int n, int index, int base,
                    const void *status)
{
    if (!handles || index < base || index - base >= n) /* MPI_UNDEFINED too, and whatever a refused call has left */
        store_with(f, NULL);
    else
        record_wait(f, handles[index - base], status);
}

/* With MPI_ERR_IN_STATUS each status tells whether its operation is still pending. */
static bool is_pending(const struct frame *f, const void *status)
{
    return f->result == abi.err_in_status && abi_status_error(status) == abi.err_pending;
}

/* A call on several requests that failed as a whole has completed none. */
static bool refused(const struct frame *f)
{
    return f->result && f->result != abi.err_in_status;
}

void record_waitall(const struct frame *f, const struct held_request *handles, int n, const void *statuses)
{
    const struct file_request *row = NULL;
    if (refused(f)) n = 0;
    for (int i = 0; i < n && handles; i++)
        if (!is_pending(f, status_of(statuses, i))) row = complete_request(f, handles[i], status_of(statuses, i));
    store_with(f, n == 1 ? row : NULL);
}

void record_waitsome(const struct frame *f, const struct held_request *handles, int n, int completed,
                     const int *indices, int base, const void *statuses)
{
    const struct file_request *row = NULL;
    if (refused(f) || completed > n) completed = 0; /* MPI_UNDEFINED is negative */
    for (int i = 0; i < completed && handles; i++)
        row = complete_request(f, handles[indices[i] - base], status_of(statuses, i));
    store_with(f, completed == 1 ? row : NULL);
}

void record_cancel(const struct frame *f, struct held_request held)
{
    if (f->result == 0) requests_mark_cancel(held);
    thread_store_call(f->t, plain_row(f));
}

/* Only of receives, and of what is cancelled, is the end unknown; asking about a generalized request would call the
 * program. */
const void *status_before_free(struct held_request held)
{
    static __thread char status[STATUS_ROOM] __attribute__((aligned(16)));
    struct request r;
    int complete = 0;
    if (held.handle == abi.request_null || !requests_look(held, &r) || !r.active) return NULL;
    if (r.kind != REQUEST_RECV && !(r.kind == REQUEST_SEND && r.cancelling)) return NULL;
    return pmpi.Request_get_status(held.handle, &complete, status) == 0 && complete ? status : NULL;
}

/* A message that is still to come, or to go, will: `owned` memory is left alone, as MPI may still read it. */
static void store_given_up(const struct frame *f, const struct request *r, const void *status)
{
    struct file_request row;
    if (status) {
        fill_completed(&row, f, r, status);
    } else {
        fill_row(&row, r, r->kind == REQUEST_SEND ? WHAT_SEND_FREED : WHAT_RECV_FREED);
        row.completed = f->exit;
    }
    thread_store_request(f->t, row);
}

void record_request_free(const struct frame *f, struct held_request held, const void *status)
{
    struct request r;
    struct file_call call = plain_row(f);
    if (f->result || held.handle == abi.request_null || !requests_drop(held, &r)) {
        thread_store_call(f->t, call);
        return;
    }
    call.comm = r.comm;
    call.peer = r.peer;
    if (r.kind != REQUEST_COLLECTIVE) call.tag = r.tag;
    thread_store_call(f->t, call);
    if (r.active && r.kind <= REQUEST_RECV) store_given_up(f, &r, status);
}

void record_open_receives(const struct frame *f)
{
    struct request r;
    for (size_t at = 0; f->result == 0 && requests_take_open_receive(&at, &r);) store_given_up(f, &r, NULL);
}

void record_other_request(const struct frame *f, word comm, word request)
{
    struct request r = {
        .handle = request, .posted = f->enter, .peer = PEER_NONE, .tag = -1, .kind = REQUEST_OTHER, .active = true};
    if (f->result == 0 && comm != abi.comm_null) r.comm = comms_find(comm)->index;
    record_timed(f, comm);
    if (f->result == 0) requests_add(&r);
}
