/* The .dim writer's walk over the calls of one rank: burst, what the call posts, the call, what it completes. */
#include "dimwrite.h"

#include <stdbool.h>
#include <string.h>

#include "records.h"

enum dim_plan { NOTHING, SEND, RECEIVE, GLOBAL, GLOBAL_START, GLOBAL_ON_WORLD };
enum { RECV_NOW = 0, RECV_POSTED = 1, RECV_WAIT = 2 };
enum { OP_START = 0, OP_WHOLE = 1, OP_WAIT = 2 };
enum { SEND_IMMEDIATE = 2 };

struct writer {
    char *at;
    int32_t task;
    const int32_t *comm_id;
    const int8_t *defined;
};

static char *put_number(char *at, int64_t value)
{
    char digits[20];
    int n = 0;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    if (value < 0) *at++ = '-';
    do digits[n++] = (char)('0' + rest % 10);
    while (rest /= 10);
    while (n) *at++ = digits[--n];
    return at;
}

static void put_record(struct writer *w, const int64_t *fields, int n)
{
    for (int i = 0; i < n; i++) {
        w->at = put_number(w->at, fields[i]);
        *w->at++ = i + 1 < n ? ':' : '\n';
    }
}

/* Seconds with nine decimals, exactly: a nanosecond is the last digit. */
static void put_burst(struct writer *w, int64_t ns)
{
    if (ns <= 0) return;
    *w->at++ = '1';
    *w->at++ = ':';
    w->at = put_number(w->at, w->task);
    memcpy(w->at, ":0:", 3);
    w->at = put_number(w->at + 3, ns / 1000000000);
    *w->at++ = '.';
    int64_t rest = ns % 1000000000;
    for (int i = 8; i >= 0; i--, rest /= 10) w->at[i] = (char)('0' + rest % 10);
    w->at += 9;
    *w->at++ = '\n';
}

static int64_t id_of(const struct writer *w, int32_t comm)
{
    return w->comm_id[comm + 1];
}

static void put_send(struct writer *w, int32_t peer, int64_t bytes, int32_t tag, int32_t comm, int sync)
{
    if (peer < 0) return;
    put_record(w, (int64_t[]){2, w->task, 0, peer, bytes, tag, id_of(w, comm), sync}, 8);
}

static void put_receive(struct writer *w, int32_t peer, int64_t bytes, int32_t tag, int32_t comm, int kind)
{
    if (peer < 0) return;
    put_record(w, (int64_t[]){3, w->task, 0, peer, bytes, tag, id_of(w, comm), kind}, 8);
}

static bool put_global(struct writer *w, const struct trace_call *c, const int32_t *plan, int type)
{
    int32_t comm = plan[0] == GLOBAL_ON_WORLD ? -1 : c->comm;
    if (plan[0] != GLOBAL_ON_WORLD && !w->defined[comm + 1]) return false;
    bool is_root = c->peer == w->task;
    put_record(w, (int64_t[]){10, w->task, 0, plan[1], id_of(w, comm), is_root, 0, c->sent, c->received, type}, 10);
    return true;
}

static void put_posted(struct writer *w, const struct trace_request *r)
{
    if (r->what == WHAT_SEND_STARTED)
        put_send(w, r->peer, r->bytes, r->tag, r->comm, SEND_IMMEDIATE);
    else
        put_receive(w, r->peer, r->bytes, r->tag, r->comm, RECV_POSTED);
}

static void put_done(struct writer *w, const struct trace_request *r, const struct trace_call *started,
                     const int32_t *plan)
{
    if (r->what != WHAT_COLLECTIVE_DONE)
        put_receive(w, r->peer, r->bytes, r->tag, r->comm, RECV_WAIT);
    else if (started->call >= 0)
        put_global(w, started, plan + 2 * started->call, OP_WAIT);
}

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

enum { CPU_LATER = -2 };

struct dim_event {
    int64_t time;
    int64_t type;
    int64_t value;
    int64_t at; /* ns of the burst before it, by the clock; -1: not known yet */
};

/* The first `next` events are written, the first `placed` have an `at`. */
struct events {
    struct dim_event *row;
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
static void place(struct events *e, int64_t begin, int64_t end, int64_t before, int64_t after,
                  const struct trace_flush *flushes, int64_t n_flushes, int64_t *next_flush)
{
    for (; e->placed < e->n && e->row[e->placed].time <= end; e->placed++) {
        struct dim_event *row = &e->row[e->placed];
        int64_t at = before;
        if (row->time > begin) at += row->time - begin - flushed(flushes, n_flushes, next_flush, begin, row->time);
        row->at = at < after ? at : after;
    }
}

/* A burst that took `wall` ns by the clock and is written as `ns`, cut where events are: the parts sum up to it. */
static void put_bursts(struct writer *w, struct events *e, int64_t wall, int64_t ns)
{
    int64_t written = 0;
    for (; e->next < e->placed; e->next++) {
        const struct dim_event *row = &e->row[e->next];
        int64_t until = wall > 0 && ns > 0 ? (int64_t)((__int128)ns * row->at / wall) : 0;
        put_burst(w, until - written);
        written = until;
        put_record(w, (int64_t[]){20, w->task, 0, row->type, row->value}, 5);
    }
    put_burst(w, ns - written);
}

int64_t dim_records(int64_t *walk, int32_t task, const void *calls_, int64_t n, const int64_t *cpu, const int32_t *plan,
                    const int32_t *comm_id, const int8_t *defined, const void *posted_, int64_t n_posted,
                    const void *done_, const void *started_, int64_t n_done, void *events_, int64_t n_events,
                    const void *flushes_, int64_t n_flushes, int64_t overhead, int64_t cpu_overhead, int64_t *left_out,
                    char *out)
{
    const struct trace_call *call = calls_, *started = started_;
    const struct trace_request *posted = posted_, *done = done_;
    const struct trace_flush *flushes = flushes_;
    struct writer w = {out, task, comm_id, defined};
    struct events events = open_events(events_, n_events);
    int64_t p = 0, d = 0;

    for (const struct trace_call *end = call + n; call <= end; call++) {
        /* A request that the call before this one both posted and completed has posted == walk[1]. */
        for (; d < n_done && done[d].completed <= walk[0] && done[d].posted <= walk[1]; d++)
            put_done(&w, &done[d], &started[d], plan);
        if (call == end) break;

        int64_t begin = walk[0] + walk[5];
        int64_t wall = call->enter - begin - flushed(flushes, n_flushes, &walk[2], begin, call->enter);
        int64_t measured = cpu ? cpu[call - (const struct trace_call *)calls_] : -1, whole = walk[6];
        if (wall > 0) whole += wall;
        place(&events, begin, call->enter, walk[6], whole, flushes, n_flushes, &walk[2]);
        walk[6] = measured == CPU_LATER ? whole : 0;
        if (measured != CPU_LATER) put_bursts(&w, &events, whole, measured >= 0 ? measured - cpu_overhead : whole);
        for (; p < n_posted && posted[p].posted <= call->enter; p++) put_posted(&w, &posted[p]);

        const int32_t *now = plan + 2 * call->call;
        if (now[0] == SEND)
            put_send(&w, call->peer, call->sent, call->tag, call->comm, now[1]);
        else if (now[0] == RECEIVE)
            put_receive(&w, call->peer, call->received, call->tag, call->comm, RECV_NOW);
        else if (now[0] >= GLOBAL && !put_global(&w, call, now, now[0] == GLOBAL_START ? OP_START : OP_WHOLE))
            left_out[call->call]++;

        /* Between the failing polls of one row the program computed: that time joins the next burst. */
        int64_t polled = call->inside + overhead * (call->count - 1);
        int64_t done_at = call->count > 1 && call->enter + polled < call->exit ? call->enter + polled : call->exit;
        if (done_at > walk[0]) walk[0] = done_at;
        walk[1] = call->enter;
        walk[5] = overhead;
    }
    walk[3] = p;
    walk[4] = d;
    walk[7] = events.next;
    return w.at - out;
}
