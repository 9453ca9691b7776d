// Lines of a .prv from sorted states, events and messages: a merge of three lists and the printing of integers.
//
// Almost all time goes into printing, so digits come four at a time from a table and the "cpu:appl:task:thread:"
// of each thread is printed once and copied.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "paraver/prvwrite.h"
#include "records.h"

enum { LINE_ROOM = 448, EVENT_HEAD_ROOM = 128, EVENT_PAIR_ROOM = 48, OBJECT_ROOM = 48, HIGH_ROOM = 16 };
enum { LOW = 100000000 }; // times that are near each other differ in their lower eight digits

struct object {
    int32_t cpu;            // of the text below
    int32_t length;         // 0: nothing printed yet
    char text[OBJECT_ROOM]; // "cpu:application:task:thread:"
};

struct writer {
    int64_t ranks;
    int64_t *first; // first object of each rank, and their number at [ranks]
    int32_t *application;
    int32_t *task;
    struct object *objects;
    int64_t high; // of the time printed last, less its lower eight digits: the text below
    int32_t high_length;
    char high_text[HIGH_ROOM];
    char digits[40000]; // "0000" to "9999"
};

static char *put_four(const struct writer *w, char *p, uint32_t v)
{
    memcpy(p, w->digits + 4 * v, 4);
    return p + 4;
}

// v < 10000 without leading zeros
static char *put_short(const struct writer *w, char *p, uint32_t v)
{
    uint32_t skip = (v < 10) + (v < 100) + (v < 1000);
    memcpy(p, w->digits + 4 * v + skip, 4); // what is copied too much is overwritten by what follows
    return p + 4 - skip;
}

static char *put_eight(const struct writer *w, char *p, uint32_t v)
{
    return put_four(w, put_four(w, p, v / 10000), v % 10000);
}

static char *put_unsigned(const struct writer *w, char *p, uint64_t v)
{
    if (v < 10000) return put_short(w, p, (uint32_t)v);
    if (v < 100000000) return put_four(w, put_short(w, p, (uint32_t)(v / 10000)), (uint32_t)(v % 10000));
    p = put_unsigned(w, p, v / 100000000);
    return put_eight(w, p, (uint32_t)(v % 100000000));
}

static char *put_decimal(const struct writer *w, char *p, int64_t v)
{
    if (v >= 0) return put_unsigned(w, p, (uint64_t)v);
    *p = '-';
    return put_unsigned(w, p + 1, 0 - (uint64_t)v);
}

// A time of a record. Most begin with the digits of the one before.
static inline char *put_time(struct writer *w, char *p, int64_t v)
{
    uint64_t low = (uint64_t)v - (uint64_t)w->high;
    if (low >= LOW) {
        if (v < LOW) return put_decimal(w, p, v);
        low = (uint64_t)v % LOW;
        w->high = v - (int64_t)low;
        w->high_length = (int32_t)(put_unsigned(w, w->high_text, (uint64_t)v / LOW) - w->high_text);
    }
    memcpy(p, w->high_text, HIGH_ROOM);
    return put_eight(w, p + w->high_length, (uint32_t)low);
}

static inline char *put_time_field(struct writer *w, char *p, int64_t v)
{
    p = put_time(w, p, v);
    *p = ':';
    return p + 1;
}

static char *put_field(const struct writer *w, char *p, int64_t v)
{
    p = put_decimal(w, p, v);
    *p = ':';
    return p + 1;
}

static char *end_line(const struct writer *w, char *p, int64_t v)
{
    p = put_decimal(w, p, v);
    *p = '\n';
    return p + 1;
}

static void print_object(const struct writer *w, struct object *object, int64_t rank, int64_t thread, int32_t cpu)
{
    char *p = put_field(w, object->text, cpu);
    p = put_field(w, p, w->application[rank]);
    p = put_field(w, p, w->task[rank]);
    p = put_field(w, p, thread + 1);
    object->cpu = cpu;
    object->length = (int32_t)(p - object->text);
}

static char *put_object(struct writer *w, char *p, int64_t rank, int64_t thread, int32_t cpu)
{
    struct object *object = &w->objects[w->first[rank] + thread];
    if (object->length == 0 || object->cpu != cpu) print_object(w, object, rank, thread, cpu);
    memcpy(p, object->text, OBJECT_ROOM);
    return p + object->length;
}

static int known(const struct writer *w, int64_t rank, int64_t thread)
{
    return rank >= 0 && rank < w->ranks && thread >= 0 && thread < w->first[rank + 1] - w->first[rank];
}

static char *put_state(struct writer *w, char *p, const struct trace_state *s)
{
    if (!known(w, s->rank, s->thread)) return NULL;
    memcpy(p, "1:", 2);
    p = put_object(w, p + 2, s->rank, s->thread, s->cpu);
    p = put_time_field(w, put_time_field(w, p, s->begin), s->end);
    return end_line(w, p, s->state);
}

static int same_line(const struct trace_event *a, const struct trace_event *b)
{
    return a->time == b->time && a->rank == b->rank && a->thread == b->thread && a->cpu == b->cpu;
}

// One line for all events of one thread at one time. Advances *e past them.
static char *put_prv_events(struct writer *w, char *p, const struct trace_event **e, const struct trace_event *last)
{
    const struct trace_event *first = *e;
    if (!known(w, first->rank, first->thread)) return NULL;
    memcpy(p, "2:", 2);
    p = put_object(w, p + 2, first->rank, first->thread, first->cpu);
    p = put_time_field(w, p, first->time);
    const struct trace_event *event = first;
    do {
        p = put_field(w, put_field(w, p, event->type), event->value);
        event++;
    } while (event < last && same_line(first, event));
    p[-1] = '\n';
    *e = event;
    return p;
}

static char *put_prv_message(struct writer *w, char *p, const struct trace_message *m)
{
    if (!known(w, m->source, m->source_thread) || !known(w, m->destination, m->destination_thread)) return NULL;
    memcpy(p, "3:", 2);
    p = put_object(w, p + 2, m->source, m->source_thread, m->source_cpu);
    p = put_time_field(w, put_time_field(w, p, m->logical_send), m->physical_send);
    p = put_object(w, p, m->destination, m->destination_thread, m->destination_cpu);
    p = put_time_field(w, put_time_field(w, p, m->logical_receive), m->physical_receive);
    return end_line(w, put_field(w, p, m->size), m->tag);
}

// The last event (exclusive) of the run that shares a line with e, so far as `room` bytes can hold it.
static const struct trace_event *line_end(const struct trace_event *e, const struct trace_event *end, int64_t room)
{
    int64_t pairs = (room - EVENT_HEAD_ROOM) / EVENT_PAIR_ROOM;
    if (end - e <= pairs) return end;
    const struct trace_event *stop = e;
    while (stop < end && same_line(e, stop)) stop++;
    return stop - e <= pairs ? stop : NULL;
}

void *prv_writer_new(int64_t ranks, const int32_t *application, const int32_t *task, const int32_t *threads)
{
    struct writer *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->ranks = ranks;
    w->high = LOW;
    w->high_length = 1;
    w->high_text[0] = '1';
    w->first = calloc((size_t)ranks + 1, sizeof *w->first);
    w->application = malloc((size_t)ranks * sizeof *w->application);
    w->task = malloc((size_t)ranks * sizeof *w->task);
    if (w->first)
        for (int64_t r = 0; r < ranks; r++) w->first[r + 1] = w->first[r] + threads[r];
    if (w->first) w->objects = calloc((size_t)w->first[ranks] + 1, sizeof *w->objects);
    if (!w->application || !w->task || !w->objects) {
        prv_writer_free(w);
        return NULL;
    }
    memcpy(w->application, application, (size_t)ranks * sizeof *application);
    memcpy(w->task, task, (size_t)ranks * sizeof *task);
    for (int v = 0; v < 10000; v++)
        for (int digit = 3, rest = v; digit >= 0; digit--, rest /= 10)
            w->digits[4 * v + digit] = (char)('0' + rest % 10);
    return w;
}

void prv_writer_free(void *writer)
{
    struct writer *w = writer;
    if (!w) return;
    free(w->first);
    free(w->application);
    free(w->task);
    free(w->objects);
    free(w);
}

// Prints rows from done[0..2] on, in order of time (states, then events, then messages at one time), until `room`
// is used or all is done; advances `done`. Returns the bytes written, or -1 on a rank or thread that is not there.
int64_t prv_write(void *writer, const void *states, int64_t state_count, const void *events, int64_t event_count,
                  const void *messages, int64_t message_count, int64_t *done, char *out, int64_t room)
{
    struct writer *w = writer;
    const struct trace_state *s = (const struct trace_state *)states + done[0];
    const struct trace_state *s_end = (const struct trace_state *)states + state_count;
    const struct trace_event *e = (const struct trace_event *)events + done[1];
    const struct trace_event *e_end = (const struct trace_event *)events + event_count;
    const struct trace_message *m = (const struct trace_message *)messages + done[2];
    const struct trace_message *m_end = (const struct trace_message *)messages + message_count;
    char *p = out;
    char *end = out + room;
    while (p && end - p >= LINE_ROOM && (s < s_end || e < e_end || m < m_end)) {
        int64_t state_time = s < s_end ? s->begin : INT64_MAX;
        int64_t event_time = e < e_end ? e->time : INT64_MAX;
        int64_t message_time = m < m_end ? m->logical_send : INT64_MAX;
        if (s < s_end && state_time <= event_time && state_time <= message_time) {
            p = put_state(w, p, s++);
        } else if (e < e_end && event_time <= message_time) {
            const struct trace_event *stop = line_end(e, e_end, end - p);
            if (!stop) {
                if (p > out) break; // the whole line goes into the next buffer
                stop = e + (room - EVENT_HEAD_ROOM) / EVENT_PAIR_ROOM;
            }
            p = put_prv_events(w, p, &e, stop);
        } else {
            p = put_prv_message(w, p, m++);
        }
    }
    done[0] = s - (const struct trace_state *)states;
    done[1] = e - (const struct trace_event *)events;
    done[2] = m - (const struct trace_message *)messages;
    return p ? p - out : -1;
}
