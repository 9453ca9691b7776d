/* The walk over the calls of one rank: burst, what the call posts, the call, what it completes. */
#include "operations.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "records.h"
#include "replay.h"

enum op_plan { NOTHING, SEND, RECEIVE, GLOBAL, GLOBAL_START, GLOBAL_ON_WORLD, ACCESS_PUT, ACCESS_GET, ACCESS_WAIT };
enum { CPU_LATER = -2 };
enum { USED_POSTED, USED_DONE, USED_EVENTS };

struct program_event {
    int64_t time;
    int64_t type;
    int64_t value;
    int64_t at; /* ns of the burst before it, by the clock; -1: not known yet */
};

/* A request that was posted and not completed yet. */
struct open_request {
    int64_t posted;
    int32_t peer, tag, comm;
    int32_t slot;
    bool used;
};

struct op_walk {
    int32_t rank;
    int64_t overhead, cpu_overhead;
    int64_t at;      /* where the next burst begins */
    int64_t entered; /* of the call before it */
    int64_t next_flush;
    int64_t gap;     /* of the tracer before the next burst: 0 at first */
    int64_t waiting; /* bursts before polls, until the call after them tells their CPU time */
    int64_t burst;   /* not yet part of an operation */
    bool open;       /* the call before the next burst has no operation yet */
    bool first;      /* the next operation is the first of its call */
    int64_t used[3];
    struct open_request *requests; /* an open hash table */
    size_t n_requests, room;
    int32_t *free_slots;
    size_t n_free, free_room;
    int32_t slots;
    struct op *out;
    bool failed;
};

struct op_walk *op_walk_open(int32_t rank, int64_t begin, int64_t overhead, int64_t cpu_overhead)
{
    struct op_walk *walk = calloc(1, sizeof *walk);
    if (!walk) return NULL;
    walk->rank = rank;
    walk->at = walk->entered = begin;
    walk->overhead = overhead;
    walk->cpu_overhead = cpu_overhead;
    return walk;
}

void op_walk_close(struct op_walk *walk)
{
    if (!walk) return;
    free(walk->requests);
    free(walk->free_slots);
    free(walk);
}

int64_t op_walk_used(const struct op_walk *walk, int which)
{
    return walk->used[which];
}

int64_t op_walk_slots(const struct op_walk *walk)
{
    return walk->slots;
}

/* ---- Requests: which slot each has. Equal ones posted by one call may be taken for each other. */

static size_t place(int64_t posted, size_t room)
{
    return (size_t)((uint64_t)posted * 0x9e3779b97f4a7c15u >> 20) & (room - 1);
}

static bool grow(struct op_walk *walk)
{
    size_t room = walk->room ? 2 * walk->room : 64, old = walk->room;
    struct open_request *from = walk->requests, *to = calloc(room, sizeof *to);
    if (!to) return false;
    for (size_t i = 0; i < old; i++) {
        if (!from[i].used) continue;
        size_t k = place(from[i].posted, room);
        while (to[k].used) k = (k + 1) & (room - 1);
        to[k] = from[i];
    }
    free(from);
    walk->requests = to;
    walk->room = room;
    return true;
}

static int32_t take_slot(struct op_walk *walk, struct open_request request)
{
    if (2 * (walk->n_requests + 1) > walk->room && !grow(walk)) {
        walk->failed = true;
        return 0;
    }
    request.slot = walk->n_free ? walk->free_slots[--walk->n_free] : walk->slots++;
    request.used = true;
    size_t k = place(request.posted, walk->room);
    while (walk->requests[k].used) k = (k + 1) & (walk->room - 1);
    walk->requests[k] = request;
    walk->n_requests++;
    return request.slot;
}

static void close_gap(struct op_walk *walk, size_t hole)
{
    size_t mask = walk->room - 1;
    for (size_t k = (hole + 1) & mask; walk->requests[k].used; k = (k + 1) & mask) {
        size_t home = place(walk->requests[k].posted, walk->room);
        if (((k - home) & mask) < ((k - hole) & mask)) continue;
        walk->requests[hole] = walk->requests[k];
        hole = k;
    }
    walk->requests[hole].used = false;
}

static bool keep_slot(struct op_walk *walk, int32_t slot)
{
    if (walk->n_free == walk->free_room) {
        size_t room = walk->free_room ? 2 * walk->free_room : 64;
        int32_t *slots = realloc(walk->free_slots, room * sizeof *slots);
        if (!slots) return false;
        walk->free_slots = slots;
        walk->free_room = room;
    }
    walk->free_slots[walk->n_free++] = slot;
    return true;
}

static bool is_same(const struct open_request *a, const struct open_request *b)
{
    return a->posted == b->posted && a->peer == b->peer && a->tag == b->tag && a->comm == b->comm;
}

/* -1: no such request was posted. */
static int32_t give_slot(struct op_walk *walk, const struct open_request *request)
{
    if (!walk->room) return -1;
    size_t k = place(request->posted, walk->room);
    for (; walk->requests[k].used; k = (k + 1) & (walk->room - 1)) {
        if (!is_same(&walk->requests[k], request)) continue;
        int32_t slot = walk->requests[k].slot;
        walk->n_requests--;
        close_gap(walk, k);
        if (!keep_slot(walk, slot)) walk->failed = true;
        return slot;
    }
    return -1;
}

/* ---- Operations. */

static void put(struct op_walk *walk, struct op op)
{
    if (op.kind != OP_EVENT) {
        if (walk->first) op.flags |= OP_FIRST;
        walk->first = walk->open = false;
    }
    op.burst = walk->burst;
    walk->burst = 0;
    *walk->out++ = op;
}

static void put_send(struct op_walk *walk, int32_t peer, int64_t bytes, int32_t tag, int32_t comm, int sync)
{
    if (peer < 0) return;
    put(walk, (struct op){.kind = OP_SEND,
                          .peer = peer,
                          .bytes = bytes,
                          .tag = tag,
                          .comm = comm + 1,
                          .request = -1,
                          .flags = (uint16_t)(sync * OP_RENDEZVOUS)});
}

static void put_receive(struct op_walk *walk, enum op_kind kind, int32_t request, int32_t peer, int64_t bytes,
                        int32_t tag, int32_t comm)
{
    put(walk,
        (struct op){
            .kind = (uint16_t)kind, .peer = peer, .bytes = bytes, .tag = tag, .comm = comm + 1, .request = request});
}

static bool put_global(struct op_walk *walk, const struct trace_call *c, const int32_t *plan, const int8_t *defined,
                       enum op_kind kind, int32_t request)
{
    int32_t comm = plan[0] == GLOBAL_ON_WORLD ? -1 : c->comm;
    if (plan[0] != GLOBAL_ON_WORLD && !defined[comm + 1]) return false;
    put(walk, (struct op){.kind = (uint16_t)kind,
                          .flags = kind == OP_WAIT ? OP_OF_COLLECTIVE : 0,
                          .peer = c->peer,
                          .bytes = c->sent,
                          .other = c->received,
                          .tag = plan[1],
                          .comm = comm + 1,
                          .request = request});
    return true;
}

static struct open_request receive_of(const struct trace_request *r)
{
    return (struct open_request){.posted = r->posted, .peer = r->peer, .tag = r->tag, .comm = r->comm};
}

/* The collective that a call at this time started. */
static struct open_request collective_of(int64_t posted)
{
    return (struct open_request){.posted = posted, .peer = PEER_NONE};
}

static void put_posted(struct op_walk *walk, const struct trace_request *r)
{
    enum { SEND_IMMEDIATE = 2 };
    if (r->what == WHAT_SEND_STARTED)
        put_send(walk, r->peer, r->bytes, r->tag, r->comm, SEND_IMMEDIATE);
    else if (r->peer >= 0)
        put_receive(walk, OP_IRECV, take_slot(walk, receive_of(r)), r->peer, r->bytes, r->tag, r->comm);
}

static void put_done(struct op_walk *walk, const struct trace_request *r, const struct trace_call *started,
                     const int32_t *plan, const int8_t *defined)
{
    bool collective = r->what == WHAT_COLLECTIVE_DONE;
    if (collective ? started->call < 0 : r->peer < 0) return;
    struct open_request request = collective ? collective_of(r->posted) : receive_of(r);
    int32_t slot = give_slot(walk, &request);
    if (slot < 0) return;
    if (collective)
        put_global(walk, started, plan + 2 * started->call, defined, OP_WAIT, slot);
    else
        put_receive(walk, OP_WAIT, slot, r->peer, r->bytes, r->tag, r->comm);
}

static void put_call(struct op_walk *walk, const struct trace_call *call, const int32_t *plan, const int8_t *defined,
                     int64_t *left_out)
{
    if (plan[0] == SEND) {
        put_send(walk, call->peer, call->sent, call->tag, call->comm, plan[1]);
    } else if (plan[0] == RECEIVE) {
        if (call->peer >= 0) put_receive(walk, OP_RECV, -1, call->peer, call->received, call->tag, call->comm);
    } else if (plan[0] == GLOBAL || plan[0] == GLOBAL_ON_WORLD) {
        if (!put_global(walk, call, plan, defined, OP_COLLECTIVE, -1)) left_out[call->call]++;
    } else if (plan[0] == GLOBAL_START) {
        if (!defined[call->comm + 1])
            left_out[call->call]++;
        else
            put_global(walk, call, plan, defined, OP_COLLECTIVE_START, take_slot(walk, collective_of(call->enter)));
    } else if ((plan[0] == ACCESS_PUT || plan[0] == ACCESS_GET) && call->peer >= 0) {
        bool puts = plan[0] == ACCESS_PUT;
        put(walk, (struct op){.kind = puts ? OP_PUT : OP_GET,
                              .peer = call->peer,
                              .request = -1,
                              .comm = call->comm + 1,
                              .bytes = puts ? call->sent : call->received});
    } else if (plan[0] == ACCESS_WAIT) {
        put(walk, (struct op){.kind = OP_ACCESSES_WAIT, .peer = -1, .request = -1, .comm = call->comm + 1});
    }
}

/* The call before the next burst is complete: one without any operation takes no time. */
static void end_call(struct op_walk *walk)
{
    if (walk->open) put(walk, (struct op){.kind = OP_NONE, .peer = -1, .request = -1});
}

/* ---- Bursts. */

/* Time of [begin, end) that flushes took; flushes before it are passed for good. */
static int64_t flushed(const struct trace_flush *flushes, int64_t n, int64_t *next, int64_t begin, int64_t end)
{
    int64_t sum = 0;
    while (*next < n && flushes[*next].end <= begin) ++*next;
    for (int64_t i = *next; i < n && flushes[i].begin < end; i++) {
        int64_t from = flushes[i].begin > begin ? flushes[i].begin : begin;
        int64_t to = flushes[i].end < end ? flushes[i].end : end;
        if (to > from) sum += to - from;
    }
    return sum;
}

/* The first `next` events are written, the first `placed` have an `at`. */
struct events {
    struct program_event *row;
    int64_t n, next, placed;
};

static struct events open_events(void *rows, int64_t n)
{
    struct events e = {rows, n, 0, 0};
    while (e.placed < n && e.row[e.placed].at >= 0) e.placed++;
    return e;
}

/* Those between two calls, from `begin` to `end`, where the burst has lasted `before` ns at `begin`, `after` at `end`.
 */
static void place_events(struct op_walk *walk, struct events *e, int64_t begin, int64_t end, int64_t before,
                         int64_t after, const struct trace_flush *flushes, int64_t n_flushes)
{
    for (; e->placed < e->n && e->row[e->placed].time <= end; e->placed++) {
        struct program_event *row = &e->row[e->placed];
        int64_t at = before;
        if (row->time > begin)
            at += row->time - begin - flushed(flushes, n_flushes, &walk->next_flush, begin, row->time);
        row->at = at < after ? at : after;
    }
}

/* A burst that took `wall` ns by the clock and counts as `ns`, cut where events are: the parts sum up to it. */
static void put_burst(struct op_walk *walk, struct events *e, int64_t wall, int64_t ns)
{
    int64_t written = 0;
    for (; e->next < e->placed; e->next++) {
        const struct program_event *row = &e->row[e->next];
        int64_t until = wall > 0 && ns > 0 ? (int64_t)((__int128)ns * row->at / wall) : 0;
        walk->burst += until - written;
        written = until;
        put(walk,
            (struct op){.kind = OP_EVENT, .tag = (int32_t)row->type, .other = row->value, .peer = -1, .request = -1});
    }
    if (ns > written) walk->burst += ns - written;
}

/* What a burst counts as, of which `measured` ns of CPU time are known (-1: none) and the clock says `wall`. No thread
 * computes longer than time passes; what goes beyond it MPI spent in the failing polls between two readings. */
static int64_t burst_of(const struct op_walk *walk, int64_t measured, int64_t wall)
{
    int64_t ns = measured - walk->cpu_overhead;
    return measured < 0 || ns > wall ? wall : ns;
}

int64_t op_walk_calls(struct op_walk *walk, const void *calls, int64_t n, const int64_t *cpu, const int32_t *plan,
                      const int8_t *defined, const void *posted_, int64_t n_posted, const void *done_,
                      const void *started_, int64_t n_done, void *events_, int64_t n_events, const void *flushes_,
                      int64_t n_flushes, int64_t *left_out, void *out)
{
    const struct trace_call *call = calls, *started = started_;
    const struct trace_request *posted = posted_, *done = done_;
    const struct trace_flush *flushes = flushes_;
    struct events events = open_events(events_, n_events);
    int64_t p = 0, d = 0;
    walk->out = out;

    for (const struct trace_call *end = call + n; call <= end; call++) {
        /* A request that the call before this one both posted and completed has posted == walk->entered. */
        for (; d < n_done && done[d].completed <= walk->at && done[d].posted <= walk->entered; d++)
            put_done(walk, &done[d], &started[d], plan, defined);
        if (call == end) break;
        end_call(walk);

        int64_t begin = walk->at + walk->gap;
        int64_t wall = call->enter - begin - flushed(flushes, n_flushes, &walk->next_flush, begin, call->enter);
        int64_t measured = cpu ? cpu[call - (const struct trace_call *)calls] : -1, whole = walk->waiting;
        if (wall > 0) whole += wall;
        place_events(walk, &events, begin, call->enter, walk->waiting, whole, flushes, n_flushes);
        walk->waiting = measured == CPU_LATER ? whole : 0;
        if (measured != CPU_LATER) put_burst(walk, &events, whole, burst_of(walk, measured, whole));

        walk->open = walk->first = true;
        for (; p < n_posted && posted[p].posted <= call->enter; p++) put_posted(walk, &posted[p]);
        put_call(walk, call, plan + 2 * call->call, defined, left_out);

        /* Between the failing polls of one row the program computed: that time joins the next burst. */
        int64_t polled = call->inside + walk->overhead * (call->count - 1);
        int64_t done_at = call->count > 1 && call->enter + polled < call->exit ? call->enter + polled : call->exit;
        if (done_at > walk->at) walk->at = done_at;
        walk->entered = call->enter;
        walk->gap = walk->overhead;
    }
    walk->used[USED_POSTED] = p;
    walk->used[USED_DONE] = d;
    walk->used[USED_EVENTS] = events.next;
    return walk->failed ? -1 : walk->out - (struct op *)out;
}

int64_t op_walk_finish(struct op_walk *walk, void *out)
{
    walk->out = out;
    end_call(walk);
    return walk->out - (struct op *)out;
}
