/* Turns calls on RMA windows into operations, and into messages of 0 bytes by which ranks wait for each other. */
#include "operations/internal/operation_windows.h"

#include "common/array.h"
#include "operations/internal/left_out.h"
#include "operations/internal/op_turns.h"

enum { NO_CHECK = 1024 };

/* The fields of a call on an RMA window. */
struct window_call {
    int32_t window; /* how operations name it; of one that is not known, its communicator */
    int32_t detail;
    bool is_known;
    const int32_t *partners; /* ranks whom the call tells, or waits for */
    int64_t n_partners;
};

static struct window_call window_call_of(const struct op_rows *rows, const struct trace_call *call)
{
    if (!rows->window) return (struct window_call){.window = call->comm + 1};
    int64_t at = call - (const struct trace_call *)rows->calls, first = rows->first_partner[at];
    return (struct window_call){.window = rows->window[at] ? rows->window[at] : call->comm + 1,
                                .is_known = rows->window[at],
                                .detail = rows->detail[at],
                                .partners = rows->partners + first,
                                .n_partners = rows->first_partner[at + 1] - first};
}

/* Return a message of an RMA window; its communicator is apart from all others. */
static struct op message_op(const struct op_plans *plans, enum op_kind kind, const struct window_call *window,
                            int32_t peer, enum window_message what)
{
    return (struct op){.kind = (uint16_t)kind,
                       .flags = (uint16_t)(OP_OF_WINDOW | (kind == OP_SEND ? OP_IMMEDIATE : 0)),
                       .peer = peer,
                       .tag = (int32_t)what,
                       .comm = ~(plans->first_window + window->window),
                       .request = -1};
}

static void put_messages(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans,
                         const struct window_call *window, enum op_kind kind, enum window_message what)
{
    for (int64_t k = 0; k < window->n_partners; k++)
        op_put(walk, thread, message_op(plans, kind, window, window->partners[k], what));
}

static void put_accesses_wait(struct op_walk *walk, struct op_thread *thread, int32_t window, int32_t target)
{
    op_put(walk, thread, (struct op){.kind = OP_ACCESSES_WAIT, .peer = target, .comm = window, .request = -1});
}

static void keep_for_next_window(struct op_walk *walk, struct window_rest *rest, struct op op)
{
    if (rest->n == rest->room && !ARRAY_GROW(rest->at, rest->room, 64)) {
        walk->failed = true;
        return;
    }
    rest->at[rest->n++] = op;
}

/* Where MPI_Win_complete waits for the posts, nothing moves before: the first of what is deferred says that an epoch
   has started. */
static void defer_from_here(struct op_walk *walk, int32_t window)
{
    keep_for_next_window(walk, &walk->deferred, (struct op){.kind = OP_NONE, .comm = window});
}

static bool is_deferred(const struct op_walk *walk, int32_t window)
{
    for (size_t k = 0; k < walk->deferred.n; k++)
        if (walk->deferred.at[k].comm == window) return true;
    return false;
}

enum { TAG_OF_ACCESS = -1 }; /* what tells its request from those of messages */

static void put_access(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans,
                       const struct trace_call *call, const struct window_call *window, int32_t completer)
{
    const int32_t *plan = plans->call + 2 * call->call;
    bool puts = plan[0] == PLAN_ACCESS_PUT, has_request = plan[1];
    struct op op = {.kind = puts ? OP_PUT : OP_GET,
                    .peer = call->peer,
                    .request = -1,
                    .comm = window->window,
                    .bytes = puts ? call->sent : call->received};
    if (call->peer < 0) return;
    if (is_deferred(walk, window->window)) {
        keep_for_next_window(walk, &walk->deferred, op);
    } else if (has_request) {
        const struct open_request *request =
            op_open(walk, thread, call->enter, call->peer, TAG_OF_ACCESS, call->comm + 1, completer);
        if (request) op_put_opening(walk, thread, op, request);
    } else {
        op_put(walk, thread, op);
    }
}

static void put_deferred(struct op_walk *walk, struct op_thread *thread, int32_t window)
{
    size_t kept = 0;
    for (size_t k = 0; k < walk->deferred.n; k++) {
        struct op op = walk->deferred.at[k];
        if (op.comm != window)
            walk->deferred.at[kept++] = op;
        else if (op.kind != OP_NONE)
            op_put(walk, thread, op);
    }
    walk->deferred.n = kept;
}

static void put_complete(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans,
                         const struct window_call *window)
{
    if (!plans->start_waits) put_messages(walk, thread, plans, window, OP_RECV, WINDOW_POSTED);
    put_deferred(walk, thread, window->window);
    put_accesses_wait(walk, thread, window->window, -1);
    put_messages(walk, thread, plans, window, OP_SEND, WINDOW_COMPLETED);
}

static void put_lock(struct op_walk *walk, struct op_thread *thread, const struct trace_call *call,
                     const struct window_call *window, bool all)
{
    struct op op = {.kind = OP_LOCK,
                    .peer = all ? -1 : call->peer,
                    .tag = window->detail & LOCK_EXCLUSIVE ? LOCK_EXCLUSIVE : LOCK_SHARED,
                    .comm = window->window,
                    .request = -1};
    if (!all && call->peer < 0) return;
    if (window->detail & NO_CHECK)
        keep_for_next_window(walk, &walk->unchecked, op);
    else
        op_put(walk, thread, op);
}

static bool was_unchecked(struct op_walk *walk, const struct op *unlock)
{
    struct window_rest *rest = &walk->unchecked;
    for (size_t k = 0; k < rest->n; k++) {
        if (rest->at[k].comm != unlock->comm || rest->at[k].peer != unlock->peer) continue;
        rest->at[k] = rest->at[--rest->n];
        return true;
    }
    return false;
}

static void put_unlock(struct op_walk *walk, struct op_thread *thread, const struct trace_call *call,
                       const struct window_call *window, bool all)
{
    struct op op = {.kind = OP_UNLOCK, .peer = all ? -1 : call->peer, .comm = window->window, .request = -1};
    put_accesses_wait(walk, thread, window->window, op.peer);
    if ((all || call->peer >= 0) && !was_unchecked(walk, &op)) op_put(walk, thread, op);
}

static void put_fence(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans,
                      const struct trace_call *call, const struct window_call *window)
{
    put_accesses_wait(walk, thread, window->window, -1);
    if (window->is_known && plans->defined[window->window])
        op_put_global(walk, thread, plans,
                      (struct op){.kind = OP_COLLECTIVE,
                                  .peer = -1,
                                  .tag = plans->call[2 * call->call + 1],
                                  .comm = window->window,
                                  .request = -1});
    else
        op_leave_out(plans, call);
}

void op_put_on_window(struct op_walk *walk, struct op_thread *thread, const struct op_feed *feed,
                      const struct trace_call *call, int32_t completer)
{
    const struct op_plans *plans = feed->plans;
    const int32_t *plan = plans->call + 2 * call->call;
    const struct window_call of_call = window_call_of(feed->rows, call), *window = &of_call;
    switch (plan[0]) {
    case PLAN_FENCE:
        put_fence(walk, thread, plans, call, window);
        break;
    case PLAN_ACCESS_PUT:
    case PLAN_ACCESS_GET:
        put_access(walk, thread, plans, call, window, completer);
        break;
    case PLAN_ACCESS_WAIT:
        put_accesses_wait(walk, thread, window->window, plan[1] ? -1 : call->peer);
        break;
    case PLAN_WIN_POST:
        put_messages(walk, thread, plans, window, OP_SEND, WINDOW_POSTED);
        break;
    case PLAN_WIN_START:
        if (plans->start_waits)
            put_messages(walk, thread, plans, window, OP_RECV, WINDOW_POSTED);
        else
            defer_from_here(walk, window->window);
        break;
    case PLAN_WIN_COMPLETE:
        put_complete(walk, thread, plans, window);
        break;
    case PLAN_WIN_WAIT:
        put_messages(walk, thread, plans, window, OP_RECV, WINDOW_COMPLETED);
        break;
    case PLAN_WIN_LOCK:
        put_lock(walk, thread, call, window, plan[1]);
        break;
    case PLAN_WIN_UNLOCK:
        put_unlock(walk, thread, call, window, plan[1]);
        break;
    default:
        break;
    }
}

void op_put_access_done(struct op_walk *walk, struct op_thread *thread, const struct trace_request *r)
{
    const struct open_request *found = slots_give(&walk->slots, r->posted, r->peer, TAG_OF_ACCESS, r->comm + 1);
    struct op op = {.flags = OP_OF_ACCESS, .peer = r->peer, .comm = r->comm + 1};
    if (found) op_put_wait(walk, thread, op, found);
}
