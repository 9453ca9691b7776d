/* Operations as the lines of a Dimemas trace. */
#include <stdint.h>
#include <string.h>

#include "operations.h"
#include "replay.h"

enum { RECV_NOW = 0, RECV_POSTED = 1, RECV_WAIT = 2 };
enum { GLOBAL_START = 0, GLOBAL_WHOLE = 1, GLOBAL_WAIT = 2 };

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

static char *put_record(char *at, const int64_t *fields, int n)
{
    for (int i = 0; i < n; i++) {
        at = put_number(at, fields[i]);
        *at++ = i + 1 < n ? ':' : '\n';
    }
    return at;
}

/* Seconds with nine decimals, exactly: a nanosecond is the last digit. */
static char *put_burst(char *at, int32_t task, int64_t ns)
{
    if (ns <= 0) return at;
    *at++ = '1';
    *at++ = ':';
    at = put_number(at, task);
    memcpy(at, ":0:", 3);
    at = put_number(at + 3, ns / 1000000000);
    *at++ = '.';
    int64_t rest = ns % 1000000000;
    for (int i = 8; i >= 0; i--, rest /= 10) at[i] = (char)('0' + rest % 10);
    at += 9;
    *at++ = '\n';
    return at;
}

static char *put_receive(char *at, const struct op *op, int32_t task, const int32_t *comm_id, int kind)
{
    return put_record(at, (int64_t[]){3, task, 0, op->peer, op->bytes, op->tag, comm_id[op->comm], kind}, 8);
}

static char *put_global(char *at, const struct op *op, int32_t task, const int32_t *comm_id, int type)
{
    return put_record(
        at, (int64_t[]){10, task, 0, op->tag, comm_id[op->comm], op->peer == task, 0, op->bytes, op->other, type}, 10);
}

int64_t dim_text(const void *operations, int64_t n, int32_t task, const int32_t *comm_id, char *out)
{
    char *at = out;
    for (const struct op *op = operations, *end = op + n; op < end; op++) {
        at = put_burst(at, task, op->burst);
        switch (op->kind) {
        case OP_SEND: {
            int sync = op->flags / OP_RENDEZVOUS & 3;
            at = put_record(at, (int64_t[]){2, task, 0, op->peer, op->bytes, op->tag, comm_id[op->comm], sync}, 8);
            break;
        }
        case OP_RECV:
            at = put_receive(at, op, task, comm_id, RECV_NOW);
            break;
        case OP_IRECV:
            at = put_receive(at, op, task, comm_id, RECV_POSTED);
            break;
        case OP_COLLECTIVE:
            at = put_global(at, op, task, comm_id, GLOBAL_WHOLE);
            break;
        case OP_COLLECTIVE_START:
            at = put_global(at, op, task, comm_id, GLOBAL_START);
            break;
        case OP_WAIT:
            at = op->flags & OP_OF_COLLECTIVE ? put_global(at, op, task, comm_id, GLOBAL_WAIT)
                                              : put_receive(at, op, task, comm_id, RECV_WAIT);
            break;
        case OP_EVENT:
            at = put_record(at, (int64_t[]){20, task, 0, (uint32_t)op->tag, op->other}, 5);
            break;
        default:
            break;
        }
    }
    return at - out;
}
