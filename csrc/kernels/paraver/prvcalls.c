// MPI calls and completed receives of an imported trace, rebuilt from its events and messages in order of time.
//
// A call opens at an event of an MPI type with a value and closes at the next with 0. A message belongs to the
// sender's call that holds its logical send and to the receiver's call that holds its logical receive; if that
// only posts the receive, the Wait or Test that holds its physical receive completes it. A matched receive is posted by
// MPI_Mprobe in our own traces, and by MPI_Mrecv in those of others. What completes a nonblocking collective no event
// says: as prv2dim takes it, an MPI_Wait in which no receive completes is for the oldest. Clocks are coarse: several
// calls of a thread may share an instant, so a closed call waits in a short queue until time has gone on.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "paraver/internal/mpi_type.h"
#include "paraver/internal/prvrequests.h"
#include "paraver/prvcalls.h"
#include "paraver/prvtypes.h"
#include "records.h"

enum { QUEUE = 16 };

struct slot {
    struct trace_call call;
    struct trace_request received; // the receiving half of a Sendrecv, or what a matched receive took
    int32_t sends, receives;       // messages given to this call
    uint16_t role;
    uint8_t open;
};

struct sizes { // what the pairs beside a collective's entry said
    int64_t time, send, receive, root;
    int32_t comm;
};

struct thread {
    int32_t rank, number;
    int32_t count; // of the queue; only the last may be open
    struct slot queue[QUEUE];
    struct sizes sizes;
    struct open_requests open;
};

struct rows {
    char *data;
    int32_t *ranks;
    int64_t count, room;
    size_t size;
};

struct builder {
    int64_t ranks;
    int64_t *first; // thread of each rank, and the number of threads
    struct thread *threads;
    const int32_t *procedures; // [type][value]: row of the trace's procedures, -1 none
    const uint16_t *roles;     // of each procedure
    struct rows calls, requests;
    int64_t broken; // calls without an end, ends without a call
    int failed;     // out of memory
};

static void add_row(struct builder *b, struct rows *rows, const void *row, int32_t rank)
{
    if (rows->count == rows->room) {
        int64_t room = rows->room ? 2 * rows->room : 4096;
        char *data = realloc(rows->data, (size_t)room * rows->size);
        if (data) rows->data = data;
        int32_t *ranks = realloc(rows->ranks, (size_t)room * sizeof *ranks);
        if (ranks) rows->ranks = ranks;
        if (!data || !ranks) {
            b->failed = 1;
            return;
        }
        rows->room = room;
    }
    memcpy(rows->data + (size_t)rows->count * rows->size, row, rows->size);
    rows->ranks[rows->count++] = rank;
}

static void emit_oldest(struct builder *b, struct thread *t)
{
    struct slot *s = &t->queue[0];
    add_row(b, &b->calls, &s->call, t->rank);
    if (s->received.what) {
        s->received.posted = s->call.enter;
        s->received.completed = s->call.exit;
        add_row(b, &b->requests, &s->received, t->rank);
    }
    memmove(s, s + 1, (size_t)--t->count * sizeof *s);
}

// Calls that ended before `time` can take no more messages.
static void retire(struct builder *b, struct thread *t, int64_t time)
{
    while (t->count && !t->queue[0].open && t->queue[0].call.exit < time) emit_oldest(b, t);
}

// Receives whose data were there by `exit` are done: by the call entered at `enter`, or, before it, by themselves.
// Returns how many the call completes.
static int64_t complete_receives(struct builder *b, struct thread *t, int64_t enter, int64_t exit)
{
    int64_t count = 0;
    for (struct trace_request row; close_receive(&t->open, exit, &row);) {
        if (row.completed >= enter) {
            row.completed = exit;
            count++;
        }
        add_row(b, &b->requests, &row, t->rank);
    }
    return count;
}

static void complete_collective(struct builder *b, struct thread *t, int64_t exit)
{
    struct trace_request row;
    if (!close_oldest_collective(&t->open, &row)) return;
    row.completed = exit;
    add_row(b, &b->requests, &row, t->rank);
}

// The tag of a collective is its procedure.
static void begin_collective(struct builder *b, struct thread *t, const struct trace_call *call)
{
    struct trace_request row = {.posted = call->enter,
                                .comm = call->comm,
                                .peer = PEER_NONE,
                                .tag = call->call,
                                .what = WHAT_COLLECTIVE_DONE,
                                .thread = t->number};
    b->failed |= !open_collective(&t->open, &row);
}

static void apply_sizes(struct thread *t, struct slot *s)
{
    if (t->sizes.time != s->call.enter) return;
    s->call.sent += t->sizes.send;
    s->call.received += t->sizes.receive;
    s->call.comm = t->sizes.comm;
    if (t->sizes.root && (s->role & PRV_ROOTED)) s->call.peer = t->rank;
    t->sizes.time = -1;
}

static void close_call(struct builder *b, struct thread *t, int64_t time)
{
    struct slot *s = t->count ? &t->queue[t->count - 1] : NULL;
    if (!s || !s->open) {
        b->broken++;
        return;
    }
    s->open = 0;
    s->call.exit = time;
    s->call.inside = s->role & PRV_LOOKS_AT_CLOCK ? 0 : time - s->call.enter;
    apply_sizes(t, s);
    if (s->role & PRV_BEGINS_COLLECTIVE) begin_collective(b, t, &s->call);
    if (!(s->role & PRV_COMPLETES)) return;
    int64_t received = complete_receives(b, t, s->call.enter, time);
    if ((s->role & PRV_WAITS_FOR_ONE) && !received) complete_collective(b, t, time);
}

static void open_call(struct builder *b, struct thread *t, int64_t time, int32_t procedure)
{
    if (t->count && t->queue[t->count - 1].open) {
        b->broken++;
        close_call(b, t, time);
    }
    if (t->count == QUEUE) emit_oldest(b, t);
    t->queue[t->count++] = (struct slot){.call = {.enter = time,
                                                  .exit = time,
                                                  .comm = -1,
                                                  .peer = PEER_NONE,
                                                  .tag = -1,
                                                  .call = procedure,
                                                  .thread = t->number,
                                                  .count = 1},
                                         .role = b->roles[procedure],
                                         .open = 1};
}

static void note_size(struct sizes *s, const struct trace_event *e)
{
    if (s->time != e->time) *s = (struct sizes){.time = e->time, .comm = -1};
    if (e->type == EVENTTYPE_COLLECTIVE_SEND_SIZE) s->send = e->value;
    if (e->type == EVENTTYPE_COLLECTIVE_RECEIVE_SIZE) s->receive = e->value;
    if (e->type == EVENTTYPE_COLLECTIVE_ROOT) s->root = e->value;
    if (e->type == EVENTTYPE_COLLECTIVE_COMMUNICATOR) s->comm = (int32_t)e->value;
}

static struct thread *thread_of(struct builder *b, int32_t rank, int32_t number)
{
    return &b->threads[b->first[rank] + number];
}

static void feed_event(struct builder *b, const struct trace_event *e)
{
    if (e->type >= EVENTTYPE_COLLECTIVE_SEND_SIZE && e->type <= EVENTTYPE_COLLECTIVE_COMMUNICATOR) {
        note_size(&thread_of(b, e->rank, e->thread)->sizes, e);
        return;
    }
    int type = prv_mpi_type(e->type);
    if (type < 0 || e->value < 0 || e->value >= PRV_CALL_VALUES) return;
    struct thread *t = thread_of(b, e->rank, e->thread);
    retire(b, t, e->time);
    int32_t procedure = b->procedures[type * PRV_CALL_VALUES + e->value];
    if (e->value == 0)
        close_call(b, t, e->time);
    else if (procedure >= 0)
        open_call(b, t, e->time, procedure);
}

// The call at `time` in a wanted role: first one that entered just then and has no message yet, then one that
// holds the time and has none, then any that holds it.
static struct slot *call_at(struct thread *t, int64_t time, int role, size_t taken)
{
    struct slot *holding = NULL, *last = NULL;
    for (int32_t i = 0; i < t->count; i++) {
        struct slot *s = &t->queue[i];
        if (!(s->role & role) || s->call.enter > time || (!s->open && s->call.exit < time)) continue;
        int32_t messages = *(const int32_t *)((const char *)s + taken);
        int is_free = messages == 0 || (s->role & PRV_MANY);
        if (is_free && s->call.enter == time) return s;
        if (is_free && !holding) holding = s;
        last = s;
    }
    return holding ? holding : last;
}

static void name_peer(struct trace_call *call, int32_t peer, int64_t tag)
{
    if (call->peer != PEER_NONE) return;
    call->peer = peer;
    call->tag = (int32_t)tag;
}

static void feed_send(struct builder *b, const struct trace_message *m)
{
    struct thread *t = thread_of(b, m->source, m->source_thread);
    retire(b, t, m->logical_send);
    struct slot *s = call_at(t, m->logical_send, PRV_SENDS, offsetof(struct slot, sends));
    if (!s) return;
    s->sends++;
    s->call.sent += m->size;
    name_peer(&s->call, m->destination, m->tag);
    if (!(s->role & PRV_MANY)) return;
    // One MPI_Startall may start several sends: each has its row, found by the entry of the call.
    struct trace_request row = {.posted = s->call.enter,
                                .completed = s->call.enter,
                                .bytes = m->size,
                                .comm = m->comm,
                                .peer = m->destination,
                                .tag = (int32_t)m->tag,
                                .what = WHAT_SEND_STARTED,
                                .thread = t->number};
    add_row(b, &b->requests, &row, t->rank);
}

static struct trace_request received_message_row(const struct trace_message *m, int32_t what)
{
    return (struct trace_request){.completed = m->physical_receive,
                                  .bytes = m->size,
                                  .comm = m->comm,
                                  .peer = m->source,
                                  .tag = (int32_t)m->tag,
                                  .what = what,
                                  .thread = m->destination_thread};
}

static void feed_receive(struct builder *b, const struct trace_message *m)
{
    struct thread *t = thread_of(b, m->destination, m->destination_thread);
    retire(b, t, m->logical_receive);
    struct slot *s = call_at(t, m->logical_receive, PRV_RECEIVES | PRV_POSTS, offsetof(struct slot, receives));
    if (!s) return;
    s->receives++;
    if (s->role & PRV_POSTS) {
        struct trace_request row = received_message_row(m, WHAT_RECV_DONE);
        row.posted = s->call.enter;
        b->failed |= !open_receive(&t->open, &row);
    } else {
        s->call.received += m->size;
        if (s->role & (PRV_SENDS | PRV_COMPLETES)) s->received = received_message_row(m, WHAT_RECEIVED);
    }
    if (!(s->role & PRV_SENDS)) name_peer(&s->call, m->source, m->tag);
}

// The tracer held a thread: after its last call, or after it looked at the clock, which is the program's time.
static void feed_tracer(struct builder *b, const struct trace_state *state)
{
    struct thread *t = thread_of(b, state->rank, state->thread);
    struct slot *s = t->count ? &t->queue[t->count - 1] : NULL;
    if (!s || (s->open && !(s->role & PRV_LOOKS_AT_CLOCK))) return;
    int64_t over = s->role & PRV_LOOKS_AT_CLOCK ? s->call.enter : s->call.exit;
    if (state->end > over + s->call.tracer) s->call.tracer = state->end - over;
}

// Rows of one window of time, each list sorted by its time (begin of a state, logical send, logical receive); tracer:
// states in which the tracer held a thread. Returns -1 when out of memory.
int64_t prv_calls_feed(void *builder, const void *events, int64_t event_count, const void *tracer, int64_t tracer_count,
                       const void *sends, int64_t send_count, const void *receives, int64_t receive_count)
{
    struct builder *b = builder;
    const struct trace_event *e = events, *e_end = e + event_count;
    const struct trace_state *h = tracer, *h_end = h + tracer_count;
    const struct trace_message *s = sends, *s_end = s + send_count;
    const struct trace_message *r = receives, *r_end = r + receive_count;
    while (e < e_end || h < h_end || s < s_end || r < r_end) {
        int64_t event_time = e < e_end ? e->time : INT64_MAX;
        int64_t tracer_time = h < h_end ? h->begin : INT64_MAX;
        int64_t send_time = s < s_end ? s->logical_send : INT64_MAX;
        int64_t receive_time = r < r_end ? r->logical_receive : INT64_MAX;
        int64_t message_time = send_time < receive_time ? send_time : receive_time;
        if (e < e_end && event_time <= tracer_time && event_time <= message_time)
            feed_event(b, e++);
        else if (h < h_end && tracer_time <= message_time)
            feed_tracer(b, h++);
        else if (s < s_end && send_time <= receive_time)
            feed_send(b, s++);
        else
            feed_receive(b, r++);
    }
    return b->failed ? -1 : 0;
}

// The trace ends: what is open ends with it. Returns -1 when out of memory.
int64_t prv_calls_finish(void *builder, int64_t end)
{
    struct builder *b = builder;
    for (struct thread *t = b->threads; t < b->threads + b->first[b->ranks]; t++) {
        if (t->count && t->queue[t->count - 1].open) {
            b->broken++;
            close_call(b, t, end);
        }
        while (t->count) emit_oldest(b, t);
        complete_receives(b, t, INT64_MAX, INT64_MAX);
    }
    return b->failed ? -1 : 0;
}

void *prv_calls_new(int64_t ranks, const int32_t *threads, const int32_t *procedures, const uint16_t *roles)
{
    struct builder *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->ranks = ranks;
    b->procedures = procedures;
    b->roles = roles;
    b->calls.size = sizeof(struct trace_call);
    b->requests.size = sizeof(struct trace_request);
    b->first = calloc((size_t)ranks + 1, sizeof *b->first);
    if (b->first) {
        for (int64_t r = 0; r < ranks; r++) b->first[r + 1] = b->first[r] + threads[r];
        b->threads = calloc((size_t)b->first[ranks] + 1, sizeof *b->threads);
    }
    if (!b->threads) {
        prv_calls_free(b);
        return NULL;
    }
    for (int64_t r = 0; r < ranks; r++)
        for (int32_t n = 0; n < threads[r]; n++) {
            struct thread *t = thread_of(b, (int32_t)r, n);
            t->rank = (int32_t)r;
            t->number = n;
            t->sizes.time = -1;
        }
    return b;
}

void prv_calls_free(void *builder)
{
    struct builder *b = builder;
    if (!b) return;
    for (int64_t i = 0; b->threads && i < b->first[b->ranks]; i++) open_requests_free(&b->threads[i].open);
    free(b->threads);
    free(b->first);
    free(b->calls.data);
    free(b->calls.ranks);
    free(b->requests.data);
    free(b->requests.ranks);
    free(b);
}

int64_t prv_calls_broken(const void *builder)
{
    return ((const struct builder *)builder)->broken;
}

// Calls and requests that are ready.
void prv_calls_counts(const void *builder, int64_t *counts)
{
    const struct builder *b = builder;
    counts[0] = b->calls.count;
    counts[1] = b->requests.count;
}

static void take_rows(struct rows *rows, void *data, int32_t *ranks)
{
    if (rows->count) {
        memcpy(data, rows->data, (size_t)rows->count * rows->size);
        memcpy(ranks, rows->ranks, (size_t)rows->count * sizeof *ranks);
    }
    rows->count = 0;
}

// Moves what is ready into arrays of prv_calls_counts rows.
void prv_calls_take(void *builder, void *calls, int32_t *call_ranks, void *requests, int32_t *request_ranks)
{
    struct builder *b = builder;
    take_rows(&b->calls, calls, call_ranks);
    take_rows(&b->requests, requests, request_ranks);
}
