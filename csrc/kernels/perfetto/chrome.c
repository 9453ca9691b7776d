/* A timeline as JSON of Chrome's tracing page, an event a line.

   Source: "Trace Event Format", Google: B and E (slices), s and f (arrows), i (instants), C (counters), M (names). */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfetto/internal/writing.h"

enum { MORE = 512 }; /* bytes of what is said at once, without texts */

__attribute__((format(printf, 3, 4))) static void chrome_print(struct timeline *t, int64_t texts, const char *form, ...)
{
    char *p = timeline_room(t, MORE + texts);
    if (!p) return;
    va_list values;
    va_start(values, form);
    t->used += vsnprintf(p, (size_t)(MORE + texts), form, values);
    va_end(values);
}

static void chrome_begin(struct timeline *t)
{
    chrome_print(t, 0, "{\n  \"format\": \"tracelib-chrome\",\n  \"displayTimeUnit\": \"ns\",\n  \"traceEvents\": [\n");
}

static void chrome_end(struct timeline *t)
{
    chrome_print(t, 0, "\n]}\n");
}

static void chrome_name(struct timeline *t, int kind, int64_t number, const char *text, int64_t length)
{
    timeline_keep(t, &t->names[kind], number, text, length);
}

/* Write the begin of an event: phase, process, thread, and the time in microseconds. */
static void chrome_event(struct timeline *t, const char *phase, int64_t lane, int64_t time)
{
    chrome_print(t, 0, "%s{\"ph\":\"%s\",\"pid\":%" PRId64 ",\"tid\":%" PRId64 ",\"ts\":%" PRId64 ".%03d",
                 t->said ? ",\n" : "", phase, t->lane[lane].process + 1, lane + 1, time / 1000, (int)(time % 1000));
    t->said = true;
}

static void ends(struct timeline *t)
{
    chrome_print(t, 0, "}");
}

static void say_name(struct timeline *t, const char *what, const char *text)
{
    chrome_print(t, (int64_t)strlen(text), ",\"%s\":%s", what, text);
}

static void called(struct timeline *t, int64_t lane, const char *what, const char *text)
{
    chrome_event(t, "M", lane, 0);
    chrome_print(t, 0, ",\"name\":\"%s\",\"args\":{", what);
    chrome_print(t, (int64_t)strlen(text), "\"name\":%s}}", text);
}

static void put_process(struct timeline *t, int64_t lane, const char *name)
{
    called(t, lane, "process_name", name);
    chrome_event(t, "M", lane, 0);
    chrome_print(t, 0, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%" PRId64 "}}", lane);
}

static void chrome_lane(struct timeline *t, int64_t lane, const char *rank, const char *thread)
{
    if (t->lane[lane].process == lane) put_process(t, lane, rank);
    called(t, lane, "thread_name", thread);
}

static void chrome_counter(struct timeline *t, int64_t track, int64_t lane, const char *name)
{
    int64_t *lanes = realloc(t->counter_lane, (size_t)(track + 1) * sizeof *lanes);
    if (lanes) t->counter_lane = lanes;
    if (!lanes) {
        t->failed = true;
        return;
    }
    lanes[track] = lane;
    timeline_keep(t, &t->counters, track, name, (int64_t)strlen(name));
    if (!t->failed) t->n_counters = track + 1;
}

static void argument(struct timeline *t, bool *some, const char *name, int64_t value)
{
    chrome_print(t, 0, "%s\"%s\":%" PRId64, *some ? "," : "", name, value);
    *some = true;
}

static void text_argument(struct timeline *t, bool *some, const char *name, const char *text)
{
    chrome_print(t, (int64_t)strlen(text), "%s\"%s\":%s", *some ? "," : "", name, text);
    *some = true;
}

static void arguments(struct timeline *t, const struct trace_call *call, int64_t place)
{
    bool some = false;
    chrome_print(t, 0, ",\"args\":{");
    if (call->peer >= 0) argument(t, &some, "peer", call->peer);
    if (call->tag >= 0) argument(t, &some, "tag", call->tag);
    if (call->sent > 0) argument(t, &some, "sent_bytes", call->sent);
    if (call->received > 0) argument(t, &some, "received_bytes", call->received);
    if (call->count > 1) argument(t, &some, "calls", call->count);
    if (call->comm >= 0) text_argument(t, &some, "comm", t->names[NAME_OF_COMM][call->comm].bytes);
    if (place > 0) text_argument(t, &some, "place", t->names[NAME_OF_PLACE][place].bytes);
    chrome_print(t, 0, "}");
}

/* The end of an arrow belongs to the slice around it, which is written before and ends after it. */
static void arrow(struct timeline *t, int64_t lane, int64_t time, const struct timeline_flow *flow)
{
    chrome_event(t, flow->closes ? "f" : "s", lane, time);
    chrome_print(t, 0, ",\"name\":\"message\",\"cat\":\"message\",\"id\":%" PRId64 "%s}", flow->id,
                 flow->closes ? ",\"bp\":\"e\"" : "");
}

static void chrome_open(struct timeline *t, int64_t lane, const struct slice *slice, const struct timeline_flow *flows,
                        int64_t n)
{
    chrome_event(t, "B", lane, slice->time);
    say_name(t, "name", t->names[slice->kind][slice->name].bytes);
    chrome_print(t, 0, ",\"cat\":\"%s\"", slice->kind == NAME_OF_CALL ? "mpi" : "region");
    if (slice->call) arguments(t, slice->call, slice->place);
    ends(t);
    for (int64_t i = 0; i < n; i++) arrow(t, lane, slice->time, &flows[i]);
}

static void chrome_close(struct timeline *t, int64_t lane, int64_t time, const struct timeline_flow *flows, int64_t n)
{
    for (int64_t i = 0; i < n; i++) arrow(t, lane, time, &flows[i]);
    chrome_event(t, "E", lane, time);
    ends(t);
}

/* An arrow needs a slice: one that takes no time. */
static void chrome_instant(struct timeline *t, int64_t lane, const struct timeline_flow *flow)
{
    chrome_event(t, "B", lane, flow->time);
    chrome_print(t, 0, ",\"name\":\"message\",\"cat\":\"message\"}");
    chrome_close(t, lane, flow->time, flow, 1);
}

static void counted(struct timeline *t, int64_t track, int64_t time)
{
    chrome_event(t, "C", t->counter_lane[track], time);
    say_name(t, "name", t->counters[track].bytes);
}

static void chrome_value(struct timeline *t, const struct timeline_value *value)
{
    counted(t, value->track, value->time);
    chrome_print(t, 0, ",\"args\":{\"value\":%" PRId64 "}}", value->value);
}

static void chrome_measure(struct timeline *t, const struct timeline_measure *measure)
{
    counted(t, measure->track, measure->time);
    chrome_print(t, 0, ",\"args\":{\"value\":%.17g}}", measure->value);
}

static void chrome_note(struct timeline *t, const struct timeline_note *note)
{
    chrome_event(t, "i", note->lane, note->time);
    say_name(t, "name", t->names[NAME_OF_EVENT][note->event].bytes);
    chrome_print(t, 0, ",\"cat\":\"event\",\"s\":\"t\",\"args\":{\"value\":%" PRId64, note->value);
    if (note->name >= 0) say_name(t, "label", t->names[NAME_OF_VALUE][note->name].bytes);
    chrome_print(t, 0, "}}");
}

const struct format chrome_format = {
    chrome_begin, chrome_end,   chrome_name,    chrome_lane,  put_process,    chrome_counter,
    chrome_open,  chrome_close, chrome_instant, chrome_value, chrome_measure, chrome_note,
};
