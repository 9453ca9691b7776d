/* Plans of operations: check that all they name exists, and find their costs and the links that they need. Most
   operations repeat an earlier one, so one plan serves many. */
#include "packed/plan.h"

#include "machine/cost.h"
#include "machine/resources.h"
#include "packed/supply.h"

static const uint8_t PHASE_OF[OP_KINDS] = {
    [OP_NONE] = PHASE_POST,
    [OP_SEND] = PHASE_SUBMIT,
    [OP_RECV] = PHASE_POST,
    [OP_IRECV] = PHASE_POST,
    [OP_WAIT] = PHASE_POST,
    [OP_COLLECTIVE] = PHASE_SUBMIT,
    [OP_COLLECTIVE_START] = PHASE_SUBMIT,
    [OP_EVENT] = PHASE_POST,
    [OP_PRIORITY] = PHASE_POST,
    [OP_SEM_WAIT] = PHASE_POST,
    [OP_SEM_SIGNAL] = PHASE_POST,
    [OP_PUT] = PHASE_SUBMIT,
    [OP_GET] = PHASE_SUBMIT,
    [OP_ACCESSES_WAIT] = PHASE_POST,
    [OP_PARALLEL] = PHASE_POST,
    [OP_PORT_SEND] = PHASE_SUBMIT,
    [OP_PORT_RECV] = PHASE_POST,
    [OP_LOCK] = PHASE_POST,
    [OP_UNLOCK] = PHASE_POST,
    [OP_FILE] = PHASE_SUBMIT,
};

static bool is_access(const struct op *op)
{
    return op->kind == OP_PUT || op->kind == OP_GET;
}

static bool is_port(const struct op *op)
{
    return op->kind == OP_PORT_SEND || op->kind == OP_PORT_RECV;
}

static bool is_sent(const struct op *op)
{
    return op->kind == OP_SEND || op->kind == OP_PORT_SEND || is_access(op);
}

/* It takes a message from the network; an OP_WAIT says of which rank. */
static bool takes(const struct op *op)
{
    bool waits = op->kind == OP_WAIT && op->peer >= 0 && !(op->flags & (OP_OF_COLLECTIVE | OP_OF_ACCESS));
    return op->kind == OP_RECV || op->kind == OP_PORT_RECV || waits;
}

static int32_t peer_node(const struct sim *sim, const struct thread *thread)
{
    const struct op *op = thread->op;
    const struct program *program = is_port(op) ? sim->apps[op->comm].program : thread->app->program;
    return program->node[op->peer];
}

static int32_t n_slots(const struct program *program, const struct thread *thread, const struct op *op)
{
    if (!(op->flags & OP_SHARED)) return program->slots[thread->stream];
    return program->shared_slots ? program->shared_slots[thread->rank] : 0;
}

static bool plan_is_sound(const struct sim *sim, const struct thread *thread)
{
    const struct op *op = thread->op;
    const struct program *program = thread->app->program;
    bool collective = op->kind == OP_COLLECTIVE || op->kind == OP_COLLECTIVE_START;
    bool message = op->kind == OP_SEND || op->kind == OP_RECV || op->kind == OP_IRECV || is_access(op);
    bool waited = op->kind == OP_WAIT && takes(op);
    bool slot = op->kind == OP_IRECV || op->kind == OP_WAIT || op->kind == OP_COLLECTIVE_START ||
                ((is_access(op) || op->kind == OP_FILE) && op->request >= 0);
    if (op->kind >= OP_KINDS || op->bytes < 0) return false;
    if (message && op->peer < 0) return false;
    if ((message || waited) && op->peer >= program->n_ranks) return false;
    if (collective && (op->comm < 0 || op->comm >= program->n_comms)) return false;
    if (is_port(op) &&
        (op->comm < 0 || op->comm >= sim->n_apps || op->peer < 0 || op->peer >= sim->apps[op->comm].program->n_ranks))
        return false;
    return !slot || (op->request >= 0 && op->request < n_slots(program, thread, op));
}

/* Set the costs of a send or a receive at this moment. */
static void cost(const struct sim *sim, struct thread *thread, struct plan *plan)
{
    int32_t mine = thread->node, other = peer_node(sim, thread);
    if (takes(thread->op)) {
        plan->overhead = cost_receive(sim, thread, other, mine, plan->bytes);
        return;
    }
    struct cost cost = cost_message(sim, thread, mine, other, plan->bytes);
    plan->overhead = cost.cpu;
    thread_sending(thread)->wire = cost.wire;
    thread_sending(thread)->hold = cost.hold;
}

bool plan_make(const struct sim *sim, struct thread *thread)
{
    const struct op *op = thread->op;
    struct plan *plan = thread->plan;
    if (!plan_is_sound(sim, thread)) return false;
    *plan = (struct plan){.kind = (uint8_t)op->kind,
                          .phase = PHASE_OF[op->kind],
                          .bytes = op->bytes,
                          .request = op->request,
                          .shared = op->flags & OP_SHARED,
                          .plain = cost_is_plain(sim, thread, op->block),
                          .made = true};
    plan->simple = plan->plain && op->kind != OP_PARALLEL;
    if (!is_sent(op) && !takes(op)) return true;
    int32_t from = thread->node, to = peer_node(sim, thread);
    plan->drawn = cost_is_drawn(sim, from, to);
    plan->simple &= !plan->drawn;
    plan->inside = from == to;
    if (!plan->drawn) cost(sim, thread, plan);
    if (op->kind == OP_GET)
        resources_between(sim, to, from, thread_sending(thread)->resource);
    else if (is_sent(op))
        resources_between(sim, from, to, thread_sending(thread)->resource);
    return true;
}

void plan_draw(const struct sim *sim, struct thread *thread)
{
    cost(sim, thread, thread->plan);
}
