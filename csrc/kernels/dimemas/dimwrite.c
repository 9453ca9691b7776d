/* Operations as the lines of a Dimemas trace. */
#include "dimemas/dimwrite.h"

#include <stdbool.h>
#include <stdint.h>

#include "dimemas/dimformat.h"
#include "machine/standard_sends.h"
#include "replay.h"

enum { RECV_NOW = 0, RECV_POSTED = 1, RECV_WAIT = 2 };
enum { GLOBAL_START = 0, GLOBAL_WHOLE = 1, GLOBAL_WAIT = 2 };

static char *put_decimal_number(char *at, int64_t value)
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

static char *put_record(char *at, const int64_t *fields, int n)
{
    for (int i = 0; i < n; i++) {
        at = put_decimal_number(at, fields[i]);
        *at++ = i + 1 < n ? ':' : '\n';
    }
    return at;
}

/* Whose records are written. */
struct writer {
    int32_t task, thread;
    const int32_t *comm_id;
    int64_t buffered; /* bytes up to which the run shows that standard sends do not wait; -1: not known */
};

/* Seconds with nine decimals, exactly: a nanosecond is the last digit. */
static char *put_burst(char *at, const struct writer *w, int64_t ns)
{
    if (ns <= 0) return at;
    *at++ = '1';
    *at++ = ':';
    at = put_decimal_number(at, w->task);
    *at++ = ':';
    at = put_decimal_number(at, w->thread);
    *at++ = ':';
    at = put_decimal_number(at, ns / 1000000000);
    *at++ = '.';
    int64_t rest = ns % 1000000000;
    for (int i = 8; i >= 0; i--, rest /= 10) at[i] = (char)('0' + rest % 10);
    at += 9;
    *at++ = '\n';
    return at;
}

/* Programs that came from a Dimemas trace may name communicators that it does not define, and threads. */
static char *put_dim_message(char *at, const struct op *op, const struct writer *w, int record, int64_t thread, int how)
{
    int64_t comm = op->comm < 0 ? ~op->comm : w->comm_id[op->comm];
    if (op->other)
        return put_record(at, (int64_t[]){record, w->task, w->thread, op->peer, thread, op->bytes, op->tag, comm, how},
                          9);
    return put_record(at, (int64_t[]){record, w->task, w->thread, op->peer, op->bytes, op->tag, comm, how}, 8);
}

static char *put_dim_send(char *at, const struct op *op, const struct writer *w)
{
    int flags = was_buffered(op, w->task, w->buffered) ? op->flags & ~OP_RENDEZVOUS : op->flags;
    return put_dim_message(at, op, w, 2, (op->other & 0xffff) - 1, flags / OP_RENDEZVOUS & 3);
}

static char *put_receive(char *at, const struct op *op, const struct writer *w, int kind)
{
    return put_dim_message(at, op, w, 3, (op->other >> 16) - 1, kind);
}

static char *put_global(char *at, const struct op *op, const struct writer *w, int type)
{
    bool root = op->peer == w->task;
    return put_record(
        at, (int64_t[]){10, w->task, w->thread, op->tag, w->comm_id[op->comm], root, 0, op->bytes, op->other, type},
        10);
}

static char *put_dim_event(char *at, const struct writer *w, uint32_t type, int64_t value)
{
    return put_record(at, (int64_t[]){20, w->task, w->thread, type, value}, 5);
}

static char *put_port(char *at, const struct op *op, const struct writer *w)
{
    bool sends = op->kind == OP_PORT_SEND;
    int64_t how = op->flags / OP_RENDEZVOUS & 3;
    return put_record(at,
                      (int64_t[]){sends ? DIM_PORT_SEND : DIM_PORT_RECEIVE, w->task, w->thread, op->comm, op->peer,
                                  op->bytes, op->tag, how},
                      sends ? 8 : 7);
}

int64_t dim_text(const void *operations, int64_t n, int32_t task, int32_t thread, const int32_t *comm_id,
                 int64_t buffered, char *out)
{
    const struct writer w = {task, thread, comm_id, buffered};
    char *at = out;
    for (const struct op *op = operations, *end = op + n; op < end; op++) {
        at = put_burst(at, &w, op->burst);
        switch (op->kind) {
        case OP_SEND:
            at = put_dim_send(at, op, &w);
            break;
        case OP_RECV:
            at = put_receive(at, op, &w, RECV_NOW);
            break;
        case OP_IRECV:
            at = put_receive(at, op, &w, RECV_POSTED);
            break;
        case OP_COLLECTIVE:
            at = put_global(at, op, &w, GLOBAL_WHOLE);
            break;
        case OP_COLLECTIVE_START:
            at = put_global(at, op, &w, GLOBAL_START);
            break;
        case OP_WAIT:
            at =
                op->flags & OP_OF_COLLECTIVE ? put_global(at, op, &w, GLOBAL_WAIT) : put_receive(at, op, &w, RECV_WAIT);
            break;
        case OP_EVENT:
            at = put_dim_event(at, &w, (uint32_t)op->tag, op->other);
            break;
        case OP_PRIORITY:
            at = put_dim_event(at, &w, DIM_PRIORITY, op->other);
            break;
        case OP_SEM_WAIT:
            at = put_dim_event(at, &w, DIM_SEM_WAIT, op->tag);
            break;
        case OP_SEM_SIGNAL:
            at = put_dim_event(at, &w, DIM_SEM_SIGNAL, op->tag);
            break;
        case OP_PARALLEL:
            at = put_dim_event(at, &w, DIM_PARALLEL, op->other);
            break;
        case OP_PORT_SEND:
        case OP_PORT_RECV:
            at = put_port(at, op, &w);
            break;
        default:
            break;
        }
    }
    return at - out;
}
