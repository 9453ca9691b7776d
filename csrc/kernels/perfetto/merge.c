/* Merges the rows of the threads in order of time: see timeline.h. The format writes them. */
#include "perfetto/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "perfetto/internal/writing.h"

char *timeline_room(struct timeline *t, int64_t n)
{
    if (t->failed) return NULL;
    if (t->room - t->used < n) {
        int64_t want = 2 * t->room + n;
        char *more = realloc(t->out, (size_t)want);
        if (!more) {
            t->failed = true;
            return NULL;
        }
        t->out = more;
        t->room = want;
    }
    return t->out + t->used;
}

void timeline_keep(struct timeline *t, struct text **list, int64_t n, const char *text, int64_t length)
{
    if (t->failed) return;
    struct text *more = realloc(*list, (size_t)(n + 1) * sizeof *more);
    char *copy = malloc((size_t)length + 1);
    if (more) *list = more;
    if (!more || !copy) {
        free(copy);
        t->failed = true;
        return;
    }
    memcpy(copy, text, (size_t)length);
    copy[length] = 0;
    more[n] = (struct text){copy, length};
}

struct timeline *timeline_new(int format, int64_t threads, int64_t nodes)
{
    struct timeline *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->format = format == TIMELINE_CHROME ? &chrome_format : &perfetto_format;
    t->threads = threads;
    t->lanes = threads + nodes;
    t->lane = calloc((size_t)t->lanes + 1, sizeof *t->lane);
    if (!t->lane) {
        timeline_free(t);
        return NULL;
    }
    return t;
}

static void free_texts(struct text *list, int64_t n)
{
    for (int64_t i = 0; list && i < n; i++) free(list[i].bytes);
    free(list);
}

void timeline_free(struct timeline *t)
{
    if (!t) return;
    for (int kind = 0; kind < TIMELINE_NAMES; kind++) free_texts(t->names[kind], t->names[kind] ? t->n_names[kind] : 0);
    free_texts(t->counters, t->n_counters);
    free(t->counter_lane);
    free(t->lane);
    free(t->out);
    free(t);
}

int64_t timeline_take(struct timeline *t, const char **bytes)
{
    int64_t used = t->used;
    *bytes = t->out;
    t->used = 0;
    return t->failed ? -1 : used;
}

void timeline_begin(struct timeline *t)
{
    t->format->begin(t);
}

void timeline_end(struct timeline *t)
{
    t->format->end(t);
}

void timeline_name(struct timeline *t, int kind, const char *text, int64_t length)
{
    t->format->name(t, kind, t->n_names[kind], text, length);
    if (!t->failed) t->n_names[kind]++;
}

void timeline_lane(struct timeline *t, int64_t lane, int64_t first_lane, const char *rank, const char *thread)
{
    t->lane[lane].process = first_lane;
    t->format->lane(t, lane, rank, thread);
}

void timeline_node(struct timeline *t, int64_t lane, const char *name)
{
    t->lane[lane].process = lane;
    t->format->node(t, lane, name);
}

void timeline_counter(struct timeline *t, int64_t track, int64_t lane, const char *name)
{
    t->format->counter(t, track, lane, name);
}

/* One lane's rows of a window, as far as they are not written yet. */
struct rest {
    const struct trace_call *call, *call_end;
    const int64_t *place; /* of `call`; NULL: of none */
    const struct timeline_mark *mark, *mark_end;
    const struct timeline_flow *send, *send_end;
    struct timeline_flow *receive, *receive_end;
};

/* A row that stands for several calls has the time in MPI of all of them at its beginning. */
static int64_t end_of(const struct trace_call *call)
{
    return call->count > 1 ? call->enter + call->inside : call->exit;
}

/* Arrows' ends before a time lie in no call. */
static int64_t instants(struct timeline *t, int64_t lane, const struct timeline_flow *flow,
                        const struct timeline_flow *end, int64_t before)
{
    const struct timeline_flow *first = flow;
    for (; flow < end && flow->time < before; flow++) t->format->instant(t, lane, flow);
    return flow - first;
}

static void close_timeline_call(struct timeline *t, int64_t lane, struct rest *r, int64_t time)
{
    struct timeline_flow *kept = r->receive, *first = kept;
    for (; r->receive < r->receive_end && r->receive->time <= time; r->receive++) {
        if (r->receive->closes && r->receive->other > t->lane[lane].begin)
            t->format->instant(t, lane, r->receive);
        else
            *kept++ = *r->receive;
    }
    t->format->close(t, lane, time, first, kept - first);
    t->lane[lane].open = false;
}

static void open_timeline_call(struct timeline *t, int64_t lane, struct rest *r)
{
    const struct trace_call *call = r->call++;
    struct slice slice = {call->enter, NAME_OF_CALL, call->call, call, r->place ? *r->place++ : 0};
    if (t->lane[lane].open) close_timeline_call(t, lane, r, call->enter);
    r->receive += instants(t, lane, r->receive, r->receive_end, call->enter);
    r->send += instants(t, lane, r->send, r->send_end, call->enter);
    const struct timeline_flow *first = r->send;
    int64_t end = end_of(call);
    while (r->send < r->send_end && (r->send->time < end || r->send->time == call->enter)) r->send++;
    t->format->open(t, lane, &slice, first, r->send - first);
    t->lane[lane].open = true;
    t->lane[lane].begin = call->enter;
    t->lane[lane].end = end;
}

static void put_mark(struct timeline *t, int64_t lane, const struct timeline_mark *mark)
{
    if (mark->region < 0) {
        t->format->close(t, lane, mark->time, NULL, 0);
        return;
    }
    struct slice slice = {mark->time, NAME_OF_REGION, mark->region, NULL, 0};
    t->format->open(t, lane, &slice, NULL, 0);
}

/* At one time a call ends before a region begins or ends, and that before a call begins. */
static void write_lane(struct timeline *t, int64_t lane, struct rest *r, int64_t until)
{
    struct lane *l = &t->lane[lane];
    while (!t->failed) {
        int64_t call = r->call < r->call_end ? r->call->enter : INT64_MAX;
        int64_t mark = r->mark < r->mark_end ? r->mark->time : INT64_MAX;
        if (l->open && l->end < until && l->end <= mark && l->end <= call)
            close_timeline_call(t, lane, r, l->end);
        else if (mark != INT64_MAX && mark <= call)
            put_mark(t, lane, r->mark++);
        else if (call != INT64_MAX)
            open_timeline_call(t, lane, r);
        else
            break;
    }
    instants(t, lane, r->receive, r->receive_end, INT64_MAX);
    instants(t, lane, r->send, r->send_end, INT64_MAX);
}

void timeline_write(struct timeline *t, const struct timeline_window *w)
{
    const struct trace_call *calls = w->calls;
    for (int64_t lane = 0; lane < t->threads && !t->failed; lane++) {
        struct rest r = {
            .call = calls + w->first_call[lane],
            .call_end = calls + w->first_call[lane + 1],
            .place = w->places ? w->places + w->first_call[lane] : NULL,
            .mark = w->marks + w->first_mark[lane],
            .mark_end = w->marks + w->first_mark[lane + 1],
            .send = w->sends + w->first_send[lane],
            .send_end = w->sends + w->first_send[lane + 1],
            .receive = w->receives + w->first_receive[lane],
            .receive_end = w->receives + w->first_receive[lane + 1],
        };
        write_lane(t, lane, &r, w->until);
    }
}

void timeline_values(struct timeline *t, const struct timeline_value *values, int64_t n)
{
    for (int64_t i = 0; i < n && !t->failed; i++) t->format->value(t, &values[i]);
}

void timeline_measures(struct timeline *t, const struct timeline_measure *measures, int64_t n)
{
    for (int64_t i = 0; i < n && !t->failed; i++) t->format->measure(t, &measures[i]);
}

void timeline_notes(struct timeline *t, const struct timeline_note *notes, int64_t n)
{
    for (int64_t i = 0; i < n && !t->failed; i++) t->format->note(t, &notes[i]);
}
