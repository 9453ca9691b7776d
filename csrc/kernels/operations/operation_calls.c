/* Turns calls and requests of a rank into operations, one after the other. */
#include "operations/internal/operation_calls.h"

#include "operations/internal/left_out.h"
#include "operations/internal/op_turns.h"
#include "operations/internal/operation_files.h"
#include "operations/internal/operation_windows.h"
#include "operations/partitioned.h"

static void put_send_op(struct op_walk *walk, struct op_thread *thread, int32_t peer, int64_t bytes, int32_t tag,
                        int32_t comm, int sync, int64_t message)
{
    if (peer < 0) return;
    op_put(walk, thread,
           (struct op){.kind = OP_SEND,
                       .peer = peer,
                       .bytes = bytes,
                       .other = message,
                       .tag = tag,
                       .comm = comm,
                       .request = -1,
                       .flags = (uint16_t)(sync * OP_RENDEZVOUS)});
}

static struct op receive_op(enum op_kind kind, int32_t peer, int64_t bytes, int32_t tag, int32_t comm)
{
    return (struct op){.kind = (uint16_t)kind, .peer = peer, .bytes = bytes, .tag = tag, .comm = comm, .request = -1};
}

static struct op global_op(const struct trace_call *c, int32_t comm, int32_t operation)
{
    return (struct op){.kind = OP_COLLECTIVE,
                       .peer = c->peer,
                       .bytes = c->sent,
                       .other = c->received,
                       .tag = operation,
                       .comm = comm,
                       .request = -1};
}

/* The fields that tell a request from others that one call posted. */
struct request_name {
    int32_t peer, tag, comm;
};

static void put_global_start(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans, struct op op,
                             int64_t posted, struct request_name name, int32_t completer)
{
    int32_t *turn = op_turn_of(walk, plans, op.comm);
    struct open_request *request = op_open(walk, thread, posted, name.peer, name.tag, name.comm, completer);
    if (!request) return;
    request->sent = op.bytes;
    request->received = op.other;
    request->operation = op.tag;
    request->root = op.peer;
    request->of = op.comm;
    op.kind = OP_COLLECTIVE_START;
    op_take_turn(walk, thread, turn);
    op_put_opening(walk, thread, op, request);
    op_end_turn(walk, thread, turn);
}

/* How operations name the communicator of a request; partitioned messages, which match no others, have their own. */
static int32_t comm_of(const struct op_plans *plans, const struct trace_request *r)
{
    unsigned what = op_what_of(r), ordinal = (unsigned)r->what >> WHAT_ORDINAL_SHIFT;
    if (what < WHAT_PARTITIONED_SEND_STARTED) return r->comm + 1;
    return ~(plans->first_channel + (int32_t)(ordinal & 255) * plans->channels + r->comm + 1);
}

enum { SEND_IMMEDIATE = 2 };

static void start_partitioned(struct op_walk *walk, const struct op_plans *plans, const struct trace_request *r)
{
    struct partitioned_send send = {r->bytes, r->bytes, r->comm, r->peer, r->tag, comm_of(plans, r)};
    if (r->peer >= 0) walk->failed |= !partitioned_start(&walk->partitioned, send);
}

static void send_partitioned(struct op_walk *walk, struct op_thread *thread, const struct partitioned_send *send)
{
    put_send_op(walk, thread, send->peer, send->bytes, send->tag, send->channel, SEND_IMMEDIATE, 0);
}

static void end_partitioned(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans,
                            const struct trace_request *r)
{
    struct partitioned_send send;
    if (partitioned_end(&walk->partitioned, comm_of(plans, r), r->peer, r->tag, &send))
        send_partitioned(walk, thread, &send);
}

/* A call may have started several persistent collectives, but begins one other. */
static const struct request_name COLLECTIVE_OF_CALL = {.peer = PEER_NONE};

static struct request_name persistent_of(const struct trace_request *r)
{
    return (struct request_name){.peer = PEER_NONE, .tag = r->tag + 1, .comm = r->comm + 1};
}

/* A row of a request may come from anywhere: what it calls a procedure need not be one. */
static bool is_persistent(const struct op_plans *plans, const struct trace_request *r)
{
    return r->tag >= 0 && r->tag < plans->n_procedures && plans->call[2 * r->tag] == PLAN_GLOBAL_INIT;
}

static void put_started(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans,
                        const struct trace_request *r)
{
    if (!is_persistent(plans, r)) return;
    if (!plans->defined[r->comm + 1]) {
        plans->left_out[r->tag]++;
        return;
    }
    struct op op = {.peer = r->peer,
                    .bytes = r->bytes,
                    .other = r->completed, /* what is taken: a row of a start has no time there */
                    .tag = plans->call[2 * r->tag + 1],
                    .comm = r->comm + 1};
    put_global_start(walk, thread, plans, op, r->posted, persistent_of(r), r->thread);
}

static void put_posted_receive(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans,
                               const struct trace_request *r)
{
    if (r->peer < 0) return;
    struct op op = receive_op(OP_IRECV, r->peer, r->bytes, r->tag, comm_of(plans, r));
    const struct open_request *request = op_open(walk, thread, r->posted, r->peer, r->tag, op.comm, r->thread);
    op.other = r->reserved;
    if (request) op_put_opening(walk, thread, op, request);
}

void op_put_posted(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans,
                   const struct trace_request *r)
{
    switch (op_what_of(r)) {
    case WHAT_SEND_STARTED:
        put_send_op(walk, thread, r->peer, r->bytes, r->tag, r->comm + 1, SEND_IMMEDIATE, r->reserved);
        break;
    case WHAT_COLLECTIVE_STARTED:
        put_started(walk, thread, plans, r);
        break;
    case WHAT_PARTITIONED_SEND_STARTED:
        start_partitioned(walk, plans, r);
        break;
    case WHAT_READ_DONE:
    case WHAT_WRITE_DONE:
        op_put_file_posted(walk, thread, r);
        break;
    default:
        put_posted_receive(walk, thread, plans, r);
    }
}

static void put_done_collective(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans,
                                const struct trace_request *r)
{
    struct request_name name = is_persistent(plans, r) ? persistent_of(r) : COLLECTIVE_OF_CALL;
    const struct open_request *found = slots_give(&walk->slots, r->posted, name.peer, name.tag, name.comm);
    if (!found) return;
    struct op op = {.flags = OP_OF_COLLECTIVE,
                    .peer = found->root,
                    .bytes = found->sent,
                    .other = found->received,
                    .tag = found->operation,
                    .comm = found->of};
    op_put_wait(walk, thread, op, found);
}

static void put_done_receive(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans,
                             const struct trace_request *r)
{
    if (r->peer < 0) return;
    struct op op = receive_op(OP_WAIT, r->peer, r->bytes, r->tag, comm_of(plans, r));
    const struct open_request *found = slots_give(&walk->slots, r->posted, r->peer, r->tag, op.comm);
    if (found) op_put_wait(walk, thread, op, found);
}

void op_put_done(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans,
                 const struct trace_request *r)
{
    if (op_what_of(r) == WHAT_PARTITIONED_SEND_DONE)
        end_partitioned(walk, thread, plans, r);
    else if (r->what == WHAT_RMA_DONE)
        op_put_access_done(walk, thread, r);
    else if (op_is_of_file(r))
        op_put_file_done(walk, thread, r);
    else if (r->what == WHAT_COLLECTIVE_DONE)
        put_done_collective(walk, thread, plans, r);
    else
        put_done_receive(walk, thread, plans, r);
}

void op_put_call(struct op_walk *walk, struct op_thread *thread, const struct op_feed *feed,
                 const struct trace_call *call, int64_t message, int32_t completer)
{
    const struct op_plans *plans = feed->plans;
    const int32_t *plan = plans->call + 2 * call->call;
    bool on_world = plan[0] == PLAN_GLOBAL_ON_WORLD, starts = plan[0] == PLAN_GLOBAL_START;
    if (plan[0] == PLAN_SEND) {
        put_send_op(walk, thread, call->peer, call->sent, call->tag, call->comm + 1, plan[1], message);
    } else if (plan[0] == PLAN_RECEIVE) {
        if (call->peer < 0) return;
        struct op op = receive_op(OP_RECV, call->peer, call->received, call->tag, call->comm + 1);
        op.other = message;
        op_put(walk, thread, op);
    } else if (plan[0] == PLAN_GLOBAL || on_world || starts) {
        int32_t comm = on_world ? 0 : call->comm + 1;
        struct op op = global_op(call, comm, plan[1]);
        if (!on_world && !plans->defined[comm])
            op_leave_out(plans, call);
        else if (starts)
            put_global_start(walk, thread, plans, op, call->enter, COLLECTIVE_OF_CALL, completer);
        else
            op_put_global(walk, thread, plans, op);
    } else if (plan[0] == PLAN_PART_READY) {
        struct partitioned_send send;
        if (partitioned_ready(&walk->partitioned, call->comm, call->peer, call->tag, call->sent, &send))
            send_partitioned(walk, thread, &send);
    } else if (plan[0] == PLAN_FILE) {
        op_put_on_file(walk, thread, plans, call, completer);
    } else if (plan[0] >= PLAN_FENCE && plan[0] != PLAN_PART_READY) {
        op_put_on_window(walk, thread, feed, call, completer);
    }
}
