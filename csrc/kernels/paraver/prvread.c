// Records of a .prv from its text: complete lines in, rows of states, events and messages out.
//
// A line that does not keep to the format is dropped as Paraver drops it, and its number is kept with the reason.

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "paraver/internal/mpi_type.h"
#include "paraver/prvread.h"
#include "paraver/prvtypes.h"
#include "records.h"
#include "text/inline/fields.h"

enum { KEPT_PROBLEMS = 16 };

/* 146 years, as the header may say. What is after the last record still has a time in 64 bits. */
#define LATEST_NS (INT64_C(1) << 62)

struct span {
    int64_t begin;      // first event, or first state other than "not created"
    int64_t last_act;   // last event, or end of the last state in which it does something; -1: none
    int64_t last_other; // end of the last state or message; -1: none
};

struct reader {
    int64_t applications;
    int64_t *first_rank; // of each application, and the number of ranks
    int32_t *threads;    // of each rank
    int32_t *cpus;       // first and last CPU that a record of each rank may name
    struct span *spans;  // of each rank
    int64_t nanoseconds; // in the trace's unit of time
    int64_t duration;    // ns; end of states left open
    int64_t last;        // latest time seen
    int32_t cpu;         // largest CPU seen
    int64_t line;        // lines read so far, the first of the body being 1
    int64_t problems;
    int64_t problem_line[KEPT_PROBLEMS];
    int64_t problem_reason[KEPT_PROBLEMS];
    uint8_t calls[MPI_EVENT_TYPES * PRV_CALL_VALUES]; // values of MPI events seen
};

struct cursor {
    const char *at;
    const char *end;        // of the line, without its line end
    enum prv_reason reason; // the first thing that went wrong
};

struct place {
    int32_t cpu, rank, thread;
};

static void fail_line(struct cursor *c, enum prv_reason reason)
{
    if (c->reason == PRV_FINE) c->reason = reason;
}

static int64_t read_number(struct cursor *c)
{
    int64_t value;
    if (!field_integer(&c->at, c->end, &value)) fail_line(c, PRV_NO_NUMBER);
    return value;
}

static int64_t timestamp(struct cursor *c, const struct reader *r)
{
    int64_t t = read_number(c);
    if (t < 0 || t > LATEST_NS / r->nanoseconds) {
        fail_line(c, PRV_BAD_TIME);
        return 0;
    }
    return t * r->nanoseconds;
}

static struct place read_place(struct cursor *c, struct reader *r)
{
    int64_t cpu = read_number(c), application = read_number(c), task = read_number(c), thread = read_number(c);
    struct place none = {0, 0, 0};
    if (c->reason != PRV_FINE) return none;
    if (application < 1 || application > r->applications) return fail_line(c, PRV_NO_OBJECT), none;
    int64_t first = r->first_rank[application - 1];
    if (task < 1 || task > r->first_rank[application] - first) return fail_line(c, PRV_NO_OBJECT), none;
    int64_t rank = first + task - 1;
    if (thread < 1 || thread > r->threads[rank]) return fail_line(c, PRV_NO_OBJECT), none;
    if (r->cpus[2 * rank + 1] == 0) cpu = 0; // no resource model: the field says nothing
    if (cpu != 0 && (cpu < r->cpus[2 * rank] || cpu > r->cpus[2 * rank + 1])) return fail_line(c, PRV_NO_CPU), none;
    if (cpu > r->cpu) r->cpu = (int32_t)cpu;
    return (struct place){(int32_t)cpu, (int32_t)rank, (int32_t)thread - 1};
}

static void see(struct reader *r, int64_t time)
{
    if (time > r->last) r->last = time;
}

static void see_act(struct reader *r, int32_t rank, int64_t end)
{
    struct span *s = &r->spans[rank];
    if (end > s->last_act) s->last_act = end;
}

/* A trace may end in the middle of what a rank does, with no event behind it: it was cut, or the program was killed.
   What is idle, not there, held by the tracer or not recorded does not make a rank's run longer. */
static int is_act(int64_t state)
{
    return state != STATE_IDLE && state != STATE_NOT_CREATED && state != STATE_TRACER &&
           state != STATE_TRACING_DISABLED;
}

static void see_interval(struct reader *r, int32_t rank, int64_t begin, int64_t end)
{
    struct span *s = &r->spans[rank];
    if (begin < s->begin) s->begin = begin;
    if (end > s->last_other) s->last_other = end;
    see(r, end);
}

static int read_state(struct cursor *c, struct reader *r, struct trace_state *row)
{
    struct place at = read_place(c, r);
    int64_t begin = timestamp(c, r);
    int open = c->end - c->at > 3 && memcmp(c->at, "-1:", 3) == 0;
    if (open) c->at += 3;
    int64_t end = open ? (begin > r->duration ? begin : r->duration) : timestamp(c, r);
    int64_t state = read_number(c);
    if (c->reason == PRV_FINE && end < begin) fail_line(c, PRV_BAD_END);
    if (c->reason == PRV_FINE && (c->at != c->end || state < 0 || state > INT32_MAX)) fail_line(c, PRV_NO_NUMBER);
    if (c->reason != PRV_FINE) return 0;
    *row = (struct trace_state){begin, end, at.rank, at.thread, (int32_t)state, at.cpu};
    see(r, end);
    if (state != STATE_NOT_CREATED) see_interval(r, at.rank, begin, end);
    if (is_act(state)) see_act(r, at.rank, end);
    return 1;
}

static int is_size(int64_t type)
{
    return type == EVENTTYPE_COLLECTIVE_SEND_SIZE || type == EVENTTYPE_COLLECTIVE_RECEIVE_SIZE;
}

static void see_event(struct reader *r, const struct trace_event *e)
{
    int mpi = prv_mpi_type(e->type);
    if (mpi >= 0 && e->value > 0 && e->value < PRV_CALL_VALUES) r->calls[mpi * PRV_CALL_VALUES + e->value] = 1;
}

// Number of rows, or -1 if `room` is too small.
static int64_t read_events(struct cursor *c, struct reader *r, struct trace_event *rows, int64_t room)
{
    struct place at = read_place(c, r);
    int64_t time = timestamp(c, r);
    int64_t n = 0;
    if (c->reason == PRV_FINE && c->at == c->end) fail_line(c, PRV_BAD_PAIRS);
    while (c->reason == PRV_FINE && c->at < c->end) {
        int64_t type = read_number(c);
        if (c->reason == PRV_FINE && c->at == c->end) fail_line(c, PRV_BAD_PAIRS);
        if (c->reason == PRV_FINE && (type < 0 || type > UINT32_MAX)) fail_line(c, PRV_BAD_TYPE);
        int64_t value = read_number(c);
        if (is_size(type) && value > MOST_BYTES) fail_line(c, PRV_BAD_SIZE);
        if (c->reason != PRV_FINE) return 0;
        if (n == room) return -1;
        rows[n++] = (struct trace_event){time, value, (uint32_t)type, at.rank, at.thread, at.cpu};
    }
    if (c->reason != PRV_FINE) return 0;
    for (int64_t i = 0; i < n; i++) see_event(r, &rows[i]);
    struct span *s = &r->spans[at.rank];
    if (time < s->begin) s->begin = time;
    see_act(r, at.rank, time);
    see(r, time);
    return n;
}

static int read_message(struct cursor *c, struct reader *r, struct trace_message *row)
{
    struct place from = read_place(c, r);
    int64_t logical_send = timestamp(c, r), physical_send = timestamp(c, r);
    struct place to = read_place(c, r);
    int64_t logical_receive = timestamp(c, r), physical_receive = timestamp(c, r);
    int64_t size = read_number(c), tag = read_number(c);
    if (c->reason == PRV_FINE && (c->at != c->end || size < 0)) fail_line(c, PRV_NO_NUMBER);
    if (size > MOST_BYTES) fail_line(c, PRV_BAD_SIZE);
    if (c->reason != PRV_FINE) return 0;
    *row = (struct trace_message){.logical_send = logical_send,
                                  .physical_send = physical_send,
                                  .logical_receive = logical_receive,
                                  .physical_receive = physical_receive,
                                  .size = size,
                                  .source = from.rank,
                                  .source_thread = from.thread,
                                  .destination = to.rank,
                                  .destination_thread = to.thread,
                                  .tag = tag,
                                  .comm = -1,
                                  .source_cpu = from.cpu,
                                  .destination_cpu = to.cpu};
    see_interval(r, from.rank, logical_send, physical_send);
    see_interval(r, to.rank, logical_receive, physical_receive);
    return 1;
}

static void note_problem(struct reader *r, enum prv_reason reason)
{
    if (r->problems < KEPT_PROBLEMS) {
        r->problem_line[r->problems] = r->line;
        r->problem_reason[r->problems] = reason;
    }
    r->problems++;
}

struct tables {
    struct trace_state *states;
    struct trace_event *events;
    struct trace_message *messages;
    int64_t room;
    int64_t *counts;
};

// One line; 0 if its rows do not fit.
static int read_prv_line(struct reader *r, const char *line, const char *end, const struct tables *t)
{
    struct cursor c = {line + 2, trimmed_end(line, end), PRV_FINE};
    if (c.end == line) return 1;
    char kind = c.end - line > 2 && line[1] == ':' ? line[0] : line[0] == '#' ? '#' : 0;
    int64_t n;
    switch (kind) {
    case '1':
        t->counts[0] += read_state(&c, r, t->states + t->counts[0]);
        break;
    case '2':
        n = read_events(&c, r, t->events + t->counts[1], t->room - t->counts[1]);
        if (n < 0 && t->counts[1] > 0) return 0;
        if (n < 0)
            fail_line(&c, PRV_FULL);
        else
            t->counts[1] += n;
        break;
    case '3':
        t->counts[2] += read_message(&c, r, t->messages + t->counts[2]);
        break;
    case '4': // global operation of old traces; Paraver leaves them out too
    case '#':
        break;
    case 'c':
    case 'C':
    case 'i':
    case 'I':
        fail_line(&c, PRV_LATE_COMMUNICATOR);
        break;
    default:
        fail_line(&c, PRV_NO_RECORD);
    }
    if (c.reason != PRV_FINE) note_problem(r, c.reason);
    return 1;
}

// Reads lines (each ends with '\n') until the text ends or a table has no room. Appends rows to the tables from
// counts[0..2] on. Returns the bytes consumed.
int64_t prv_read(void *reader, const char *text, int64_t length, void *states, void *events, void *messages,
                 int64_t room, int64_t *counts)
{
    struct reader *r = reader;
    const struct tables tables = {states, events, messages, room, counts};
    const char *line = text;
    const char *stop = text + length;
    while (line < stop && counts[0] < room && counts[1] < room && counts[2] < room) {
        const char *end = memchr(line, '\n', (size_t)(stop - line));
        if (!end) break;
        r->line++;
        if (!read_prv_line(r, line, end, &tables)) {
            r->line--;
            break;
        }
        line = end + 1;
    }
    return line - text;
}

void *prv_reader_new(int64_t applications, const int32_t *tasks, const int32_t *threads, const int32_t *first_cpu,
                     const int32_t *last_cpu, int64_t nanoseconds, int64_t duration)
{
    struct reader *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->applications = applications;
    r->nanoseconds = nanoseconds;
    r->duration = duration;
    r->first_rank = calloc((size_t)applications + 1, sizeof *r->first_rank);
    if (!r->first_rank) return free(r), NULL;
    for (int64_t a = 0; a < applications; a++) r->first_rank[a + 1] = r->first_rank[a] + tasks[a];
    size_t ranks = (size_t)r->first_rank[applications];
    r->threads = malloc(ranks * sizeof *r->threads);
    r->cpus = malloc(2 * ranks * sizeof *r->cpus);
    r->spans = malloc(ranks * sizeof *r->spans);
    if (!r->threads || !r->cpus || !r->spans) return prv_reader_free(r), NULL;
    memcpy(r->threads, threads, ranks * sizeof *threads);
    for (size_t i = 0; i < ranks; i++) {
        r->cpus[2 * i] = first_cpu[i];
        r->cpus[2 * i + 1] = last_cpu[i];
        r->spans[i] = (struct span){INT64_MAX, -1, -1};
    }
    return r;
}

void prv_reader_free(void *reader)
{
    struct reader *r = reader;
    if (!r) return;
    free(r->first_rank);
    free(r->threads);
    free(r->cpus);
    free(r->spans);
    free(r);
}

int64_t prv_reader_problems(const void *reader)
{
    return ((const struct reader *)reader)->problems;
}

// Reason of the problem at `index`, and its line in the body; 0 where no more are kept.
int64_t prv_reader_problem(const void *reader, int64_t index, int64_t *line)
{
    const struct reader *r = reader;
    if (index >= r->problems || index >= KEPT_PROBLEMS) return PRV_FINE;
    *line = r->problem_line[index];
    return r->problem_reason[index];
}

// Per rank: first time, end of the last act, of the last other record (-1: none); MPI values seen; latest time; largest
// CPU.
void prv_reader_summary(const void *reader, int64_t *begin, int64_t *last_act, int64_t *last_other, uint8_t *calls,
                        int64_t *last, int32_t *cpu)
{
    const struct reader *r = reader;
    int64_t ranks = r->first_rank[r->applications];
    for (int64_t i = 0; i < ranks; i++) {
        begin[i] = r->spans[i].begin;
        last_act[i] = r->spans[i].last_act;
        last_other[i] = r->spans[i].last_other;
    }
    memcpy(calls, r->calls, sizeof r->calls);
    *last = r->last;
    *cpu = r->cpu;
}
