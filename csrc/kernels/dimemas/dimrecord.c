/* The records of a Dimemas trace as operations. Bursts join the operation after them; of two in a row the first is an
   operation that does nothing, so that each is rounded by itself, as Dimemas does. */
#include "dimemas/internal/dimrecord.h"

enum record { NOOP = 0, BURST = 1, SEND = 2, RECEIVE = 3, GLOBAL = 10, ACCELERATOR_BURST = 11, EVENT = 20 };
enum { RECEIVE_NOW = 0, RECEIVE_START = 1, RECEIVE_WAIT = 2 };
enum { GLOBAL_START = 0, GLOBAL_WHOLE = 1, GLOBAL_WAIT = 2 };
enum { MOST_FIELDS = 8, MOST_SHARES = 1 << 16 };

/* The numbers up to the end of the line; how many there are, MOST_FIELDS + 1: too many. */
static int numbers(struct cursor *c, int64_t *found)
{
    int n = 0;
    while (c->reason == DIM_FINE && c->at < c->end) {
        if (n == MOST_FIELDS) return MOST_FIELDS + 1;
        found[n++] = dim_number(c);
    }
    return n;
}

static int64_t number_within(struct cursor *c, int64_t value, int64_t least, int64_t most, enum dim_reason reason)
{
    if (value < least || value > most) dim_wrong(c, reason);
    return value;
}

/* Bytes of a message, or of a part in a global operation. */
static int64_t size(struct cursor *c, int64_t value)
{
    return number_within(c, number_within(c, value, 0, INT64_MAX, DIM_BAD_FIELD), 0, MOST_BYTES, DIM_BAD_SIZE);
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

static int32_t read_tag(struct cursor *c, int64_t value)
{
    return (int32_t)(uint32_t)number_within(c, value, INT32_MIN, UINT32_MAX, DIM_BAD_FIELD);
}

/* Which message of those with the same tag it is, where a task has several threads and the record names them. */
static int64_t threads_named(struct dim_reader *r, struct cursor *c, int64_t peer, int64_t its, bool sends)
{
    int64_t mine = r->stream - r->first_stream[r->task];
    int64_t most = r->first_stream[peer + 1] - r->first_stream[peer];
    number_within(c, its, -2, most - 1, DIM_NO_PEER);
    if (its < 0 || (most == 1 && r->first_stream[r->task + 1] - r->first_stream[r->task] == 1)) return 0;
    return sends ? (mine + 1) << 16 | (its + 1) : (its + 1) << 16 | (mine + 1);
}

/* Sends and receives: peer, (thread,) bytes, tag, communicator, and how. */
static struct op read_dim_message(struct dim_reader *r, struct cursor *c, bool sends, int64_t *how)
{
    int64_t f[MOST_FIELDS];
    int n = numbers(c, f);
    if (n != 5 && n != 6) dim_wrong(c, DIM_BAD_FIELD);
    if (c->reason != DIM_FINE) return (struct op){0};
    const int64_t *rest = f + n - 4;
    struct op op = {.request = -1};
    op.peer = (int32_t)number_within(c, f[0], 0, r->tasks - 1, DIM_NO_PEER);
    if (c->reason == DIM_FINE && n == 6) op.other = threads_named(r, c, f[0], f[1], sends);
    op.bytes = size(c, rest[0]);
    op.tag = read_tag(c, rest[1]);
    int64_t id = number_within(c, rest[2], 0, INT32_MAX, DIM_BAD_FIELD), comm = communicator(r, id);
    op.comm = comm < 0 ? (int32_t)~id : r->index[comm]; /* prv2dim names one of its own for each message */
    *how = rest[3];
    return op;
}

static void read_send(struct dim_reader *r, struct cursor *c)
{
    int64_t sync = 0;
    struct op op = read_dim_message(r, c, true, &sync);
    number_within(c, sync, 0, 3, DIM_BAD_FIELD);
    op.kind = OP_SEND;
    op.flags = (uint16_t)(OP_FIRST | sync * OP_RENDEZVOUS);
    if (c->reason == DIM_FINE) dim_put(r, op);
}

static void read_receive(struct dim_reader *r, struct cursor *c)
{
    int64_t kind = 0;
    struct op op = read_dim_message(r, c, false, &kind);
    number_within(c, kind, RECEIVE_NOW, RECEIVE_WAIT, DIM_BAD_FIELD);
    if (c->reason != DIM_FINE) return;
    uint64_t a = (uint64_t)(uint32_t)op.peer << 32 | (uint32_t)op.tag;
    uint64_t b = (uint64_t)(uint32_t)op.comm << 32 | (uint64_t)(uint32_t)op.other;
    if (kind == RECEIVE_START && (op.request = dim_open_add(r->open, a, b, op.bytes)) < 0)
        return dim_wrong(c, DIM_NO_MEMORY);
    if (kind == RECEIVE_WAIT && (op.request = dim_open_take(r->open, a, b, op.bytes)) < 0)
        return dim_wrong(c, DIM_NOTHING_TO_WAIT_FOR);
    op.kind = kind == RECEIVE_START ? OP_IRECV : kind == RECEIVE_WAIT ? OP_WAIT : OP_RECV;
    op.flags = OP_FIRST;
    dim_put(r, op);
}

/* Operation, communicator, whether it is the root, its thread, bytes sent and received(, whole or half). */
static void read_global(struct dim_reader *r, struct cursor *c)
{
    int64_t f[MOST_FIELDS];
    int n = numbers(c, f);
    if (n != 6 && n != 7) dim_wrong(c, DIM_BAD_FIELD);
    if (c->reason != DIM_FINE) return;
    int64_t type = n == 7 ? number_within(c, f[6], GLOBAL_START, GLOBAL_WAIT, DIM_BAD_FIELD) : GLOBAL_WHOLE;
    int64_t comm = communicator(r, f[1]);
    number_within(c, f[0], 0, COLLECTIVES - 1, DIM_NO_OPERATION);
    number_within(c, f[2], 0, 1, DIM_BAD_FIELD);
    int64_t sent = size(c, f[4]), received = size(c, f[5]);
    if (comm < 0) dim_wrong(c, DIM_NO_COMMUNICATOR);
    if (c->reason == DIM_FINE && !r->member[comm]) dim_wrong(c, DIM_NO_MEMBER);
    if (c->reason != DIM_FINE) return;
    struct op op = {.kind = OP_COLLECTIVE, .flags = OP_FIRST, .request = -1};
    op.tag = (int32_t)f[0];
    op.comm = r->index[comm];
    op.peer = f[2] ? r->task : -1;
    op.bytes = sent;
    op.other = received;
    uint64_t a = UINT64_MAX, b = (uint64_t)f[0] << 32 | (uint32_t)op.comm;
    if (type == GLOBAL_START) {
        op.kind = OP_COLLECTIVE_START;
        if ((op.request = dim_open_add(r->open, a, b, op.bytes)) < 0) return dim_wrong(c, DIM_NO_MEMORY);
    } else if (type == GLOBAL_WAIT) {
        op.kind = OP_WAIT;
        op.flags |= OP_OF_COLLECTIVE;
        if ((op.request = dim_open_take(r->open, a, b, op.bytes)) < 0) return dim_wrong(c, DIM_NOTHING_TO_WAIT_FOR);
    }
    dim_put(r, op);
}

static void read_event(struct dim_reader *r, struct cursor *c)
{
    int64_t f[MOST_FIELDS];
    if (numbers(c, f) != 2) dim_wrong(c, DIM_BAD_FIELD);
    if (c->reason != DIM_FINE) return;
    uint32_t type = (uint32_t)number_within(c, f[0], 0, UINT32_MAX, DIM_BAD_FIELD);
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
        op.tag = (int32_t)number_within(c, f[1], 0, INT32_MAX, DIM_BAD_FIELD);
        break;
    case DIM_PARALLEL:
        op.kind = OP_PARALLEL;
        op.other = number_within(c, f[1], 1, MOST_SHARES, DIM_BAD_FIELD);
        break;
    case DIM_EAGER_LIMIT:
        r->eager_limit = number_within(c, f[1], 1, MOST_BYTES + 1, DIM_BAD_FIELD);
        return;
    default:
        op.tag = (int32_t)type;
        op.other = f[1];
    }
    if (c->reason == DIM_FINE) dim_put(r, op);
}

/* Application and task of the other side, bytes, port(, and how it is sent). Who they are the replay knows. */
static void read_port(struct dim_reader *r, struct cursor *c, bool sends)
{
    int64_t f[MOST_FIELDS];
    if (numbers(c, f) != (sends ? 5 : 4)) dim_wrong(c, DIM_BAD_FIELD);
    if (c->reason != DIM_FINE) return;
    struct op op = {.kind = sends ? OP_PORT_SEND : OP_PORT_RECV, .flags = OP_BETWEEN_CALLS, .request = -1};
    op.comm = (int32_t)number_within(c, f[0], 0, INT32_MAX, DIM_BAD_FIELD);
    op.peer = (int32_t)number_within(c, f[1], 0, INT32_MAX, DIM_BAD_FIELD);
    op.bytes = size(c, f[2]);
    op.tag = (int32_t)number_within(c, f[3], 0, INT32_MAX, DIM_BAD_FIELD);
    if (sends) op.flags |= (uint16_t)(number_within(c, f[4], 0, 3, DIM_BAD_FIELD) * OP_RENDEZVOUS);
    if (c->reason == DIM_FINE) dim_put(r, op);
}

static void read_burst(struct dim_reader *r, struct cursor *c)
{
    int64_t ns;
    if (!field_seconds(c->at, c->end, &ns)) return dim_wrong(c, DIM_BAD_TIME);
    if (ns) dim_put_burst(r);
    if (ns) r->burst = ns;
}

void dim_read_record(struct dim_reader *r, struct cursor *c, int64_t kind)
{
    bool empty = c->at == c->end;
    if (empty != (kind == NOOP)) return dim_wrong(c, DIM_BAD_FIELD);
    switch (kind) {
    case NOOP:
        break;
    case BURST:
        return read_burst(r, c);
    case SEND:
        return read_send(r, c);
    case RECEIVE:
        return read_receive(r, c);
    case GLOBAL:
        return read_global(r, c);
    case ACCELERATOR_BURST:
        return dim_wrong(c, DIM_ACCELERATOR);
    case EVENT:
        return read_event(r, c);
    case DIM_PORT_SEND:
    case DIM_PORT_RECEIVE:
        return read_port(r, c, kind == DIM_PORT_SEND);
    default:
        dim_wrong(c, DIM_UNKNOWN_RECORD);
    }
}
