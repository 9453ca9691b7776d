/* The rare parts of a step: events of the program in a burst, and flushes. */
#include "operations/internal/op_step.h"

int64_t op_flushed_by(const struct op_rows *rows, struct op_thread *thread, int64_t n, int64_t begin, int64_t end)
{
    const struct trace_flush *flushes = rows->flushes;
    int64_t sum = 0, *next = &thread->next_flush;
    if (*next < 0) *next = rows->first_flush[thread->number];
    while (*next < n && flushes[*next].end <= begin) ++*next;
    for (int64_t i = *next; i < n && flushes[i].begin < end; i++) {
        int64_t from = flushes[i].begin > begin ? flushes[i].begin : begin;
        int64_t to = flushes[i].end < end ? flushes[i].end : end;
        if (to > from) sum += to - from;
    }
    return sum;
}

void op_place_events(const struct op_rows *rows, struct op_thread *thread, struct op_cursor *c, struct op_burst burst)
{
    struct program_event *events = rows->events;
    int64_t n = rows->first_event[thread->number + 1];
    for (; c->placed < n && events[c->placed].time <= burst.end; c->placed++) {
        struct program_event *row = &events[c->placed];
        int64_t at = burst.before;
        if (row->time > burst.begin) at += row->time - burst.begin - op_flushed(rows, thread, burst.begin, row->time);
        row->at = at < burst.after ? at : burst.after;
    }
}

static void put_event_op(struct op_walk *walk, struct op_thread *thread, const struct program_event *row)
{
    if (row->type == PROGRAM_SIGNAL || row->type == PROGRAM_WAIT)
        op_put(walk, thread,
               (struct op){.kind = row->type == PROGRAM_SIGNAL ? OP_SEM_SIGNAL : OP_SEM_WAIT,
                           .flags = OP_BETWEEN_CALLS,
                           .tag = (int32_t)row->value,
                           .peer = -1,
                           .request = -1});
    else
        op_put(
            walk, thread,
            (struct op){.kind = OP_EVENT, .tag = (int32_t)row->type, .other = row->value, .peer = -1, .request = -1});
}

int64_t op_put_events(struct op_walk *walk, const struct op_rows *rows, struct op_thread *thread, struct op_cursor *c,
                      int64_t wall, int64_t ns)
{
    const struct program_event *events = rows->events;
    int64_t written = 0;
    for (; c->next < c->placed; c->next++) {
        const struct program_event *row = &events[c->next];
        int64_t until = wall > 0 && ns > 0 ? (int64_t)((__int128)ns * row->at / wall) : 0;
        thread->burst += until - written;
        written = until;
        put_event_op(walk, thread, row);
    }
    return written;
}
