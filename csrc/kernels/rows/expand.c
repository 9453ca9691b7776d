/* Raw rows of a rank file to states, events and calls of the trace. */
#include "rows/expand.h"

#include "records.h"
#include "rows/inline/min_max.h"
#include "rows/inline/row_records.h"
#include "rows/inline/ticks.h"

/* Disjoint intervals of one kind in order of time, the next one loaded. begin is INT64_MAX after the last. */
struct stream {
    struct row_reader reader;
    const void *rows;
    int64_t n;
    int64_t i;
    int64_t begin;
    int64_t end;
    int64_t tracer; /* of a call: until then the tracer holds the thread */
    int64_t held;   /* by those before */
    const struct procedure *procedure;
    int32_t state; /* of a flush */
};

typedef void load(struct stream *);

/* A call that begins before the one before it ended (nothing a runtime writes) is cut, never counted twice. */
static void set(struct stream *s, int64_t begin, int64_t end)
{
    s->begin = max_i64(begin, s->end);
    s->end = max_i64(end, s->begin);
}

/* A call as an event shows it: a look at the clock as long as it took. */
static void load_call(struct stream *s)
{
    const struct file_call *row = (const struct file_call *)s->rows + s->i;
    set(s, row_ns(&s->reader, row->enter), row_ns(&s->reader, row->exit));
    s->procedure = lane_procedure(s->reader.lane, row->call);
}

/* A folded row is drawn as one stay in MPI, as long as all its calls together. */
static void load_poll(struct stream *s)
{
    const struct file_poll *row = (const struct file_poll *)s->rows + s->i;
    set(s, row_ns(&s->reader, row->enter), row_ns(&s->reader, row->enter + row->inside));
    s->procedure = lane_procedure(s->reader.lane, row->call);
}

/* The same two as a state, where a look at the clock is the program's. */
static void set_state(struct stream *s, const struct trace_call *call, uint16_t procedure)
{
    set(s, call->enter, call->enter + call->inside);
    s->tracer = call->enter + call->inside + call->tracer;
    s->procedure = lane_procedure(s->reader.lane, procedure);
}

static void load_call_state(struct stream *s)
{
    const struct file_call *row = (const struct file_call *)s->rows + s->i;
    struct trace_call call = bare_call_record(&s->reader, row);
    set_state(s, &call, row->call);
}

static void load_poll_state(struct stream *s)
{
    const struct file_poll *row = (const struct file_poll *)s->rows + s->i;
    struct trace_call call = poll_record(&s->reader, row);
    set_state(s, &call, row->call);
}

static void load_flush(struct stream *s)
{
    const struct trace_flush *row = (const struct trace_flush *)s->rows + s->i;
    set(s, row->begin, row->end);
    s->state = row->state;
}

static inline void advance_stream(struct stream *s, load *load)
{
    s->held = max_i64(s->held, s->tracer);
    if (++s->i < s->n)
        load(s);
    else
        s->begin = s->end = INT64_MAX;
}

static struct stream open_stream(const struct lane *lane, const void *rows, int64_t n, load *load)
{
    struct stream s = {.reader = row_reader(lane),
                       .rows = rows,
                       .n = n,
                       .i = -1,
                       .end = INT64_MIN,
                       .tracer = INT64_MIN,
                       .held = INT64_MIN};
    advance_stream(&s, load);
    return s;
}

static inline void skip_to(struct stream *s, int64_t t, load *load)
{
    while (s->end <= t && s->begin != INT64_MAX) advance_stream(s, load);
}

/* The state at time t, and until when it lasts. A flush hides a call, a call hides polls, and both the tracer. */
static inline int32_t state_at(const struct stream *flush, const struct stream *call, const struct stream *poll,
                               int64_t t, int64_t *until)
{
    if (flush->begin <= t) {
        *until = flush->end;
        return flush->state;
    }
    if (call->begin <= t) {
        *until = min_i64(call->end, flush->begin);
        return call->procedure->state;
    }
    int64_t next = min_i64(call->begin, flush->begin);
    if (poll->begin <= t) {
        *until = min_i64(poll->end, next);
        return poll->procedure->state;
    }
    next = min_i64(poll->begin, next);
    int64_t held = max_i64(call->held, poll->held);
    *until = held > t ? min_i64(held, next) : next;
    return held > t ? STATE_TRACER : STATE_RUNNING;
}

int64_t expand_states(const struct lane *lane, const void *calls, int64_t n_calls, const void *polls, int64_t n_polls,
                      const void *flushes, int64_t n_flushes, int64_t begin, int64_t end, void *states)
{
    struct trace_state *out = states;
    struct stream call = open_stream(lane, calls, n_calls, load_call_state);
    struct stream poll = open_stream(lane, polls, n_polls, load_poll_state);
    struct stream flush = open_stream(lane, flushes, n_flushes, load_flush);
    if (begin <= 0 && end > 0 && lane->start > 0)
        *out++ = (struct trace_state){0, lane->start, lane->rank, lane->thread, STATE_NOT_CREATED, lane->cpu};
    /* From before the window: the state that goes on at its begin is not ours, but the next one is. */
    for (int64_t t = max_i64(lane->start, begin - 1 - lane->overhead); t < min_i64(lane->stop, end);) {
        int64_t until;
        skip_to(&flush, t, load_flush);
        skip_to(&call, t, load_call_state);
        skip_to(&poll, t, load_poll_state);
        int32_t state = state_at(&flush, &call, &poll, t, &until);
        until = min_i64(until, lane->stop);
        if (t >= begin) *out++ = (struct trace_state){t, until, lane->rank, lane->thread, state, lane->cpu};
        t = until;
    }
    return out - (struct trace_state *)states;
}

/* Where events go: those outside the window are dropped. */
struct sink {
    const struct lane *lane;
    int64_t begin;
    int64_t end;
    struct trace_event *next;
};

static inline void put_sunk_event(struct sink *to, int64_t time, uint32_t type, int64_t value)
{
    if (time < to->begin || time >= to->end) return;
    *to->next++ = (struct trace_event){time, value, type, to->lane->rank, to->lane->thread, to->lane->cpu};
}

static void put_collective(struct sink *to, int64_t time, const struct file_call *row)
{
    const struct file_communicator *c = lane_communicator(to->lane, row->comm);
    int root = row->peer == PEER_ROOT || (row->peer >= 0 && row->peer == c->rank && !c->remote_size);
    put_sunk_event(to, time, EVENTTYPE_COLLECTIVE_SEND_SIZE, (int64_t)row->sent);
    put_sunk_event(to, time, EVENTTYPE_COLLECTIVE_RECEIVE_SIZE, (int64_t)row->received);
    put_sunk_event(to, time, EVENTTYPE_COLLECTIVE_ROOT, root);
    put_sunk_event(to, time, EVENTTYPE_COLLECTIVE_COMMUNICATOR, lane_communicator_index(to->lane, row->comm) + 1);
}

/* The accesses of a thread, one after the other: each belongs to the call that was entered then. */
struct accesses {
    const struct file_access *row, *end;
};

static void put_one_sided(struct sink *to, int64_t time, const struct file_call *call, struct accesses *a)
{
    while (a->row < a->end && a->row->enter < call->enter) a->row++;
    if (call->peer < 0) return; /* failed, or to MPI_PROC_NULL */
    put_sunk_event(to, time, EVENTTYPE_RMA_SIZE, (int64_t)(call->sent > call->received ? call->sent : call->received));
    put_sunk_event(to, time, EVENTTYPE_RMA_TARGET, lane_world(to->lane, call->comm, call->peer));
    int known = a->row < a->end && a->row->enter == call->enter && a->row->offset >= 0;
    if (known) put_sunk_event(to, time, EVENTTYPE_RMA_OFFSET, a->row->offset);
}

static void put_entry(struct sink *to, const struct stream *s)
{
    put_sunk_event(to, s->begin, s->procedure->type, s->procedure->value);
}

static void put_exit(struct sink *to, const struct stream *s)
{
    put_sunk_event(to, s->end, s->procedure->type, 0);
}

static int64_t event_time(const struct lane *lane, const struct file_event *rows, int64_t n, int64_t i)
{
    return i < n ? lane_ns(lane, rows[i].time) : INT64_MAX;
}

int64_t expand_events(const struct lane *lane, const void *calls, int64_t n_calls, const void *polls, int64_t n_polls,
                      const void *events, int64_t n_events, const void *accesses, int64_t n_accesses, int64_t begin,
                      int64_t end, void *out)
{
    struct sink to = {lane, begin, end, out};
    struct accesses access = {accesses, (const struct file_access *)accesses + n_accesses};
    struct stream call = open_stream(lane, calls, n_calls, load_call);
    struct stream poll = open_stream(lane, polls, n_polls, load_poll);
    const struct file_event *event = events;
    int64_t i = 0, time = event_time(lane, event, n_events, 0);
    int in_call = 0, in_poll = 0;
    if (lane->thread == 0) put_sunk_event(&to, lane->start, EVENTTYPE_APPLICATION, 1);
    /* At equal times: exits, then events (a flush lies between an exit and an entry), then entries. */
    for (;;) {
        int64_t call_time = in_call ? call.end : call.begin;
        int64_t poll_time = in_poll ? poll.end : poll.begin;
        int64_t first = min_i64(time, min_i64(call_time, poll_time));
        if (first == INT64_MAX || first >= end) break;
        if (in_call && call_time == first) {
            put_exit(&to, &call);
            in_call = 0;
            advance_stream(&call, load_call);
        } else if (in_poll && poll_time == first) {
            put_exit(&to, &poll);
            in_poll = 0;
            advance_stream(&poll, load_poll);
        } else if (time == first) {
            put_sunk_event(&to, time, event[i].type, event[i].value);
            time = event_time(lane, event, n_events, ++i);
        } else if (poll_time == first) {
            put_entry(&to, &poll);
            in_poll = 1;
        } else {
            const struct file_call *row = (const struct file_call *)calls + call.i;
            put_entry(&to, &call);
            if (call.procedure->role == ROLE_COLLECTIVE) put_collective(&to, call.begin, row);
            if (call.procedure->role == ROLE_ONE_SIDED) put_one_sided(&to, call.begin, row, &access);
            in_call = 1;
        }
    }
    if (lane->thread == 0) put_sunk_event(&to, lane->stop, EVENTTYPE_APPLICATION, 0);
    return to.next - (struct trace_event *)out;
}

int64_t expand_calls(const struct lane *lane, const void *calls, int64_t n_calls, const void *polls, int64_t n_polls,
                     void *out)
{
    struct row_reader reader = row_reader(lane);
    const struct file_call *call = calls;
    const struct file_poll *poll = polls;
    struct trace_call *to = out;
    int64_t i = 0, j = 0;
    while (i < n_calls || j < n_polls) {
        int poll_first = j < n_polls && (i == n_calls || poll[j].enter <= call[i].enter);
        *to++ = poll_first ? poll_record(&reader, &poll[j++]) : call_record(&reader, &call[i++]);
    }
    return n_calls + n_polls;
}

int64_t expand_requests(const struct lane *lane, const void *requests, int64_t n_requests, void *out)
{
    struct row_reader reader = row_reader(lane);
    const struct file_request *rows = requests;
    struct trace_request *to = out;
    for (int64_t i = 0; i < n_requests; i++) request_record(&reader, &rows[i], &to[i]);
    return n_requests;
}
