/* One line of a Dimemas trace is a burst or an operation. Bursts join the operation after them; of two in a row the
   first is an operation that does nothing, so that each is rounded by itself, as Dimemas does. */
#include "dimread.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "dimopen.h"
#include "include/fields.h"
#include "replay.h"

enum record { NOOP = 0, BURST = 1, SEND = 2, RECEIVE = 3, GLOBAL = 10, ACCELERATOR_BURST = 11, EVENT = 20 };
enum { RECEIVE_NOW = 0, RECEIVE_START = 1, RECEIVE_WAIT = 2 };
enum { GLOBAL_START = 0, GLOBAL_WHOLE = 1, GLOBAL_WAIT = 2 };
enum { GLOBAL_OPERATIONS = 16, MOST_FIELDS = 8, MOST_SHARES = 1 << 16 };

struct dim_reader {
    int64_t tasks;
    int64_t *first_stream; /* (tasks + 1) of each task */
    int64_t *lengths;      /* of each stream */
    int32_t *slots;
    int64_t stream; /* being read; -1: none yet */
    int32_t task;
    int64_t comms;
    int32_t *ids, *index, *members;
    int64_t *offsets;
    uint8_t *member; /* of each communicator: the task being read is one */
    int64_t known;   /* the communicator found last */
    struct dim_open *open;
    int64_t burst; /* not yet part of an operation */
    bool at_offsets;
    int64_t line;
    enum dim_reason reason;
    struct op *out;
};

struct cursor {
    const char *at, *end; /* of the line, without its line end */
    enum dim_reason reason;
};

static void *copy(const void *from, size_t bytes)
{
    void *to = malloc(bytes ? bytes : 1);
    if (to) memcpy(to, from, bytes);
    return to;
}

struct dim_reader *dim_reader_new(int64_t tasks, const int32_t *threads, int64_t comms, const int32_t *ids,
                                  const int32_t *index, const int64_t *offsets, const int32_t *members)
{
    struct dim_reader *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->tasks = tasks;
    r->stream = -1;
    r->task = -1;
    r->comms = comms;
    r->first_stream = calloc((size_t)tasks + 1, sizeof *r->first_stream);
    if (!r->first_stream) return dim_reader_free(r), NULL;
    for (int64_t k = 0; k < tasks; k++) r->first_stream[k + 1] = r->first_stream[k] + threads[k];
    r->lengths = calloc((size_t)r->first_stream[tasks] + 1, sizeof *r->lengths);
    r->slots = calloc((size_t)r->first_stream[tasks] + 1, sizeof *r->slots);
    r->ids = copy(ids, (size_t)comms * sizeof *ids);
    r->index = copy(index, (size_t)comms * sizeof *index);
    r->offsets = copy(offsets, (size_t)(comms + 1) * sizeof *offsets);
    r->members = copy(members, (size_t)offsets[comms] * sizeof *members);
    r->member = calloc((size_t)comms + 1, sizeof *r->member);
    r->open = dim_open_new();
    bool whole = r->lengths && r->slots && r->ids && r->index && r->offsets && r->members && r->member && r->open;
    if (!whole) return dim_reader_free(r), NULL;
    return r;
}

void dim_reader_free(struct dim_reader *r)
{
    if (!r) return;
    free(r->first_stream);
    free(r->lengths);
    free(r->slots);
    free(r->ids);
    free(r->index);
    free(r->offsets);
    free(r->members);
    free(r->member);
    dim_open_free(r->open);
    free(r);
}

int64_t dim_reader_problem(const struct dim_reader *r, int64_t *line)
{
    *line = r->line;
    return r->reason;
}

void dim_reader_streams(const struct dim_reader *r, int64_t *lengths, int32_t *slots)
{
    size_t streams = (size_t)r->first_stream[r->tasks];
    memcpy(lengths, r->lengths, streams * sizeof *lengths);
    memcpy(slots, r->slots, streams * sizeof *slots);
}

/* ---- Fields. */

static void wrong(struct cursor *c, enum dim_reason reason)
{
    if (c->reason == DIM_FINE) c->reason = reason;
}

static int64_t number(struct cursor *c)
{
    int64_t value;
    if (!field_integer(&c->at, c->end, &value)) wrong(c, DIM_BAD_FIELD);
    return value;
}

/* The numbers up to the end of the line; how many there are, MOST_FIELDS + 1: too many. */
static int numbers(struct cursor *c, int64_t *found)
{
    int n = 0;
    while (c->reason == DIM_FINE && c->at < c->end) {
        if (n == MOST_FIELDS) return MOST_FIELDS + 1;
        found[n++] = number(c);
    }
    return n;
}

static int64_t within(struct cursor *c, int64_t value, int64_t least, int64_t most, enum dim_reason reason)
{
    if (value < least || value > most) wrong(c, reason);
    return value;
}

/* Place of the communicator with this id in the tables; -1: it is not defined. */
static int64_t communicator(struct dim_reader *r, int64_t id)
{
    if (r->known < r->comms && r->ids[r->known] == id) return r->known;
    int64_t low = 0, high = r->comms - 1;
    while (low <= high) {
        int64_t middle = low + (high - low) / 2;
        if (r->ids[middle] == id) return r->known = middle;
        if (r->ids[middle] < id)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

/* ---- Threads. */

static bool is_member(const struct dim_reader *r, int64_t comm, int32_t task)
{
    int64_t low = r->offsets[comm], high = r->offsets[comm + 1] - 1;
    while (low <= high) {
        int64_t middle = low + (high - low) / 2;
        if (r->members[middle] == task) return true;
        if (r->members[middle] < task)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return false;
}

static void put(struct dim_reader *r, struct op op)
{
    op.burst = r->burst;
    r->burst = 0;
    *r->out++ = op;
    r->lengths[r->stream]++;
}

static void put_burst(struct dim_reader *r)
{
    if (r->burst) put(r, (struct op){.kind = OP_NONE, .peer = -1, .request = -1});
}

static void end_stream(struct dim_reader *r)
{
    if (r->stream < 0) return;
    put_burst(r);
    r->slots[r->stream] = dim_open_slots(r->open);
    dim_open_clear(r->open);
}

static void enter(struct dim_reader *r, struct cursor *c, int64_t task, int64_t thread)
{
    if (c->reason != DIM_FINE) return;
    if (task < 0 || task >= r->tasks || thread < 0 || thread >= r->first_stream[task + 1] - r->first_stream[task])
        return wrong(c, DIM_NO_THREAD);
    int64_t stream = r->first_stream[task] + thread;
    if (stream == r->stream) return;
    if (stream < r->stream) return wrong(c, DIM_OUT_OF_ORDER);
    end_stream(r);
    r->stream = stream;
    if (r->task == task) return;
    r->task = (int32_t)task;
    for (int64_t k = 0; k < r->comms; k++) r->member[k] = is_member(r, k, r->task);
}

/* ---- Records. */

static int32_t tag_of(struct cursor *c, int64_t value)
{
    return (int32_t)(uint32_t)within(c, value, INT32_MIN, UINT32_MAX, DIM_BAD_FIELD);
}

/* Which message of those with the same tag it is, where a task has several threads and the record names them. */
static int64_t threads_named(struct dim_reader *r, struct cursor *c, int64_t peer, int64_t its, bool sends)
{
    int64_t mine = r->stream - r->first_stream[r->task];
    int64_t most = r->first_stream[peer + 1] - r->first_stream[peer];
    within(c, its, -2, most - 1, DIM_NO_PEER);
    if (its < 0 || (most == 1 && r->first_stream[r->task + 1] - r->first_stream[r->task] == 1)) return 0;
    return sends ? (mine + 1) << 16 | (its + 1) : (its + 1) << 16 | (mine + 1);
}

/* Sends and receives: peer, (thread,) bytes, tag, communicator, and how. */
static struct op message(struct dim_reader *r, struct cursor *c, bool sends, int64_t *how)
{
    int64_t f[MOST_FIELDS];
    int n = numbers(c, f);
    if (n != 5 && n != 6) wrong(c, DIM_BAD_FIELD);
    if (c->reason != DIM_FINE) return (struct op){0};
    const int64_t *rest = f + n - 4;
    struct op op = {.request = -1};
    op.peer = (int32_t)within(c, f[0], 0, r->tasks - 1, DIM_NO_PEER);
    if (c->reason == DIM_FINE && n == 6) op.other = threads_named(r, c, f[0], f[1], sends);
    op.bytes = within(c, rest[0], 0, INT64_MAX, DIM_BAD_FIELD);
    op.tag = tag_of(c, rest[1]);
    int64_t id = within(c, rest[2], 0, INT32_MAX, DIM_BAD_FIELD), comm = communicator(r, id);
    op.comm = comm < 0 ? (int32_t)~id : r->index[comm]; /* prv2dim names one of its own for each message */
    *how = rest[3];
    return op;
}

static void read_send(struct dim_reader *r, struct cursor *c)
{
    int64_t sync = 0;
    struct op op = message(r, c, true, &sync);
    within(c, sync, 0, 3, DIM_BAD_FIELD);
    op.kind = OP_SEND;
    op.flags = (uint16_t)(OP_FIRST | sync * OP_RENDEZVOUS);
    if (c->reason == DIM_FINE) put(r, op);
}

static void read_receive(struct dim_reader *r, struct cursor *c)
{
    int64_t kind = 0;
    struct op op = message(r, c, false, &kind);
    within(c, kind, RECEIVE_NOW, RECEIVE_WAIT, DIM_BAD_FIELD);
    if (c->reason != DIM_FINE) return;
    uint64_t a = (uint64_t)(uint32_t)op.peer << 32 | (uint32_t)op.tag;
    uint64_t b = (uint64_t)(uint32_t)op.comm << 32 | (uint64_t)(uint32_t)op.other;
    if (kind == RECEIVE_START && (op.request = dim_open_add(r->open, a, b, op.bytes)) < 0)
        return wrong(c, DIM_NO_MEMORY);
    if (kind == RECEIVE_WAIT && (op.request = dim_open_take(r->open, a, b, op.bytes)) < 0)
        return wrong(c, DIM_NOTHING_TO_WAIT_FOR);
    op.kind = kind == RECEIVE_START ? OP_IRECV : kind == RECEIVE_WAIT ? OP_WAIT : OP_RECV;
    op.flags = OP_FIRST;
    put(r, op);
}

/* Operation, communicator, whether it is the root, its thread, bytes sent and received(, whole or half). */
static void read_global(struct dim_reader *r, struct cursor *c)
{
    int64_t f[MOST_FIELDS];
    int n = numbers(c, f);
    if (n != 6 && n != 7) wrong(c, DIM_BAD_FIELD);
    if (c->reason != DIM_FINE) return;
    int64_t type = n == 7 ? within(c, f[6], GLOBAL_START, GLOBAL_WAIT, DIM_BAD_FIELD) : GLOBAL_WHOLE;
    int64_t comm = communicator(r, f[1]);
    within(c, f[0], 0, GLOBAL_OPERATIONS - 1, DIM_NO_OPERATION);
    within(c, f[2], 0, 1, DIM_BAD_FIELD);
    within(c, f[4], 0, INT64_MAX, DIM_BAD_FIELD);
    within(c, f[5], 0, INT64_MAX, DIM_BAD_FIELD);
    if (comm < 0) wrong(c, DIM_NO_COMMUNICATOR);
    if (c->reason == DIM_FINE && !r->member[comm]) wrong(c, DIM_NO_MEMBER);
    if (c->reason != DIM_FINE) return;
    struct op op = {.kind = OP_COLLECTIVE, .flags = OP_FIRST, .request = -1};
    op.tag = (int32_t)f[0];
    op.comm = r->index[comm];
    op.peer = f[2] ? r->task : -1;
    op.bytes = f[4];
    op.other = f[5];
    uint64_t a = UINT64_MAX, b = (uint64_t)f[0] << 32 | (uint32_t)op.comm;
    if (type == GLOBAL_START) {
        op.kind = OP_COLLECTIVE_START;
        if ((op.request = dim_open_add(r->open, a, b, op.bytes)) < 0) return wrong(c, DIM_NO_MEMORY);
    } else if (type == GLOBAL_WAIT) {
        op.kind = OP_WAIT;
        op.flags |= OP_OF_COLLECTIVE;
        if ((op.request = dim_open_take(r->open, a, b, op.bytes)) < 0) return wrong(c, DIM_NOTHING_TO_WAIT_FOR);
    }
    put(r, op);
}

static void read_event(struct dim_reader *r, struct cursor *c)
{
    int64_t f[MOST_FIELDS];
    if (numbers(c, f) != 2) wrong(c, DIM_BAD_FIELD);
    if (c->reason != DIM_FINE) return;
    uint32_t type = (uint32_t)within(c, f[0], 0, UINT32_MAX, DIM_BAD_FIELD);
    if (c->reason != DIM_FINE) return;
    struct op op = {.kind = OP_EVENT, .peer = -1, .request = -1};
    switch (type) {
    case DIM_PRIORITY:
        op.kind = OP_PRIORITY;
        op.flags = OP_FIRST;
        op.other = f[1];
        break;
    case DIM_SEM_WAIT:
    case DIM_SEM_SIGNAL:
        op.kind = type == DIM_SEM_WAIT ? OP_SEM_WAIT : OP_SEM_SIGNAL;
        op.flags = OP_BETWEEN_CALLS;
        op.tag = (int32_t)within(c, f[1], 0, INT32_MAX, DIM_BAD_FIELD);
        break;
    case DIM_PARALLEL:
        op.kind = OP_PARALLEL;
        op.other = within(c, f[1], 1, MOST_SHARES, DIM_BAD_FIELD);
        break;
    default:
        op.tag = (int32_t)type;
        op.other = f[1];
    }
    if (c->reason == DIM_FINE) put(r, op);
}

/* Application and task of the other side, bytes, port(, and how it is sent). Who they are the replay knows. */
static void read_port(struct dim_reader *r, struct cursor *c, bool sends)
{
    int64_t f[MOST_FIELDS];
    if (numbers(c, f) != (sends ? 5 : 4)) wrong(c, DIM_BAD_FIELD);
    if (c->reason != DIM_FINE) return;
    struct op op = {.kind = sends ? OP_PORT_SEND : OP_PORT_RECV, .flags = OP_BETWEEN_CALLS, .request = -1};
    op.comm = (int32_t)within(c, f[0], 0, INT32_MAX, DIM_BAD_FIELD);
    op.peer = (int32_t)within(c, f[1], 0, INT32_MAX, DIM_BAD_FIELD);
    op.bytes = within(c, f[2], 0, INT64_MAX, DIM_BAD_FIELD);
    op.tag = (int32_t)within(c, f[3], 0, INT32_MAX, DIM_BAD_FIELD);
    if (sends) op.flags |= (uint16_t)(within(c, f[4], 0, 3, DIM_BAD_FIELD) * OP_RENDEZVOUS);
    if (c->reason == DIM_FINE) put(r, op);
}

static void read_burst(struct dim_reader *r, struct cursor *c)
{
    int64_t ns;
    if (!field_seconds(c->at, c->end, &ns)) return wrong(c, DIM_BAD_TIME);
    if (ns) put_burst(r);
    if (ns) r->burst = ns;
}

static enum dim_reason read_line(struct dim_reader *r, const char *line, const char *end)
{
    struct cursor c = {line, trimmed_end(line, end), DIM_FINE};
    if (c.at == c.end) return DIM_FINE;
    if (*line == 's' || r->at_offsets) {
        if (*line != 's') return DIM_AFTER_OFFSETS;
        r->at_offsets = true; /* the records tell where each thread begins */
        return DIM_FINE;
    }
    if (*line == 'd') return DIM_LATE_DEFINITION;
    if ((unsigned)(*line - '0') >= 10) return DIM_NO_RECORD;
    int64_t kind = number(&c), task = number(&c), thread = number(&c);
    if (c.reason == DIM_FINE && c.at == c.end && kind != NOOP) wrong(&c, DIM_BAD_FIELD);
    enter(r, &c, task, thread);
    if (c.reason != DIM_FINE) return c.reason;
    switch (kind) {
    case NOOP:
        if (c.at != c.end) wrong(&c, DIM_BAD_FIELD);
        break;
    case BURST:
        read_burst(r, &c);
        break;
    case SEND:
        read_send(r, &c);
        break;
    case RECEIVE:
        read_receive(r, &c);
        break;
    case GLOBAL:
        read_global(r, &c);
        break;
    case ACCELERATOR_BURST:
        return DIM_ACCELERATOR;
    case EVENT:
        read_event(r, &c);
        break;
    case DIM_PORT_SEND:
    case DIM_PORT_RECEIVE:
        read_port(r, &c, kind == DIM_PORT_SEND);
        break;
    default:
        return DIM_UNKNOWN_RECORD;
    }
    return c.reason;
}

int64_t dim_read(struct dim_reader *r, const char *text, int64_t length, void *out, int64_t room, int64_t *used)
{
    const char *line = text, *stop = text + length;
    struct op *full = (struct op *)out + room;
    r->out = out;
    while (line < stop && full - r->out >= 2) {
        const char *end = memchr(line, '\n', (size_t)(stop - line));
        if (!end) break;
        r->line++;
        r->reason = read_line(r, line, end);
        if (r->reason != DIM_FINE) break;
        line = end + 1;
    }
    *used = line - text;
    return r->out - (struct op *)out;
}

int64_t dim_read_end(struct dim_reader *r, void *out)
{
    r->out = out;
    end_stream(r);
    return r->out - (struct op *)out;
}
