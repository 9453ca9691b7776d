/* How long things last: what the machine says of operations, messages and collectives. */
#include "machine/cost.h"

#include "common/duration.h"
#include "machine/site.h"

static const double MEBIBYTE = 1048576.0;

uint64_t cost_record(const struct thread *thread)
{
    return (uint64_t)thread->app->runs << 40 | (uint64_t)thread->op_number;
}

/* The value for the operation of a thread. */
static double value_for(const struct quantity *q, const struct sim *sim, struct thread *thread, bool positive)
{
    struct draws draws = {thread->who, cost_record(thread), thread->draws};
    double v = draw_value(q, sim->machine->seed, &draws, positive);
    thread->draws = (uint32_t)draws.n;
    return v;
}

/* ns of a time of a site, `drawn` where it is random. */
static int64_t quantity_ns(int64_t constant, const struct quantity *drawn, const struct sim *sim, struct thread *thread)
{
    return constant >= 0 ? constant : ns_of(value_for(drawn, sim, thread, false));
}

static int64_t span_of(const struct sim *sim, struct thread *thread, const struct span *span, enum span_kind kind)
{
    if (span->drawn.law == LAW_CONSTANT) return span->ns;
    const struct thread *of = thread->parent ? thread->parent : thread; /* a virtual thread is of its operation */
    struct draws draws = {thread->who, cost_record(of), thread->spans[kind]};
    int64_t ns = nearest_ns(draw_value(&span->drawn, sim->machine->seed, &draws, false));
    thread->spans[kind] = (uint32_t)draws.n;
    return kind == SPAN_SLICE && !ns ? 1 : ns;
}

int64_t cost_span(const struct sim *sim, struct thread *thread, enum span_kind kind)
{
    return span_of(sim, thread, &sim->machine->policy.spans[kind], kind);
}

int64_t cost_quantum(const struct sim *sim, struct thread *thread, const struct span *quantum)
{
    return span_of(sim, thread, quantum, SPAN_SLICE);
}

int64_t cost_interval(const struct sim *sim, const struct span *span, uint32_t *draws)
{
    if (span->drawn.law == LAW_CONSTANT) return span->ns;
    struct draws of = {0, 0, *draws};
    int64_t ns = nearest_ns(draw_value(&span->drawn, sim->machine->seed, &of, false));
    *draws = (uint32_t)of.n;
    return ns;
}

bool cost_is_large(const struct sim *sim, struct thread *thread, int64_t bytes)
{
    return (double)bytes >= value_for(&sim->machine->eager_limit, sim, thread, false);
}

static int64_t transfer_ns(double bytes, double bandwidth)
{
    return bandwidth > 0 ? nearest_ns(bytes * 1e9 / (bandwidth * MEBIBYTE)) : 0;
}

static double bandwidth_of(const struct quantity *q, const struct sim *sim, struct thread *thread)
{
    return q->law == LAW_CONSTANT ? q->a : value_for(q, sim, thread, true);
}

static double factor_of_block(const struct thread *thread, uint32_t block)
{
    const struct program *program = thread->app->program;
    return block && block < (uint32_t)program->n_factors ? program->factors[block] : 1.0;
}

bool cost_is_plain(const struct sim *sim, const struct thread *thread, uint32_t block)
{
    return factor_of_block(thread, block) == 1.0 && sim->sites[thread->node].speed == 1.0;
}

int64_t cost_burst(const struct sim *sim, struct thread *thread, int64_t burst, uint32_t block)
{
    double factor = factor_of_block(thread, block);
    if (factor < 0) return ns_of(-factor); /* a fixed duration, in seconds */
    double speed = sim->sites[thread->node].speed;
    if (speed == 0) speed = value_for(&sim->machine->nodes[thread->node].speed, sim, thread, true);
    if (speed == 0) return 0; /* as fast as wanted */
    return nearest_ns((double)burst * factor / speed);
}

static const struct curve_piece *piece_of(const struct curve *curve, int64_t bytes)
{
    const struct curve_piece *piece = curve->pieces, *end = piece + curve->n_pieces;
    while (piece + 1 < end && bytes >= piece[1].bytes) piece++;
    return piece;
}

static int64_t at_least_0(double x)
{
    return x > 0 ? nearest_ns(x) : 0;
}

/* Return the measured costs between two nodes; NULL: none were measured. */
static const struct curve *curve_between(const struct sim *sim, int32_t from, int32_t to)
{
    const struct machine *machine = sim->machine;
    int32_t network = sim->sites[from].network;
    const struct curve *curve = NULL;
    if (from == to)
        curve = &machine->nodes[from].intra;
    else if (network == sim->sites[to].network)
        curve = &machine->networks[network].measured;
    return curve && curve->n_pieces ? curve : NULL;
}

bool cost_is_drawn(const struct sim *sim, int32_t from, int32_t to)
{
    if (curve_between(sim, from, to)) return false;
    const struct machine *machine = sim->machine;
    const struct site *sender = &sim->sites[from], *receiver = &sim->sites[to];
    if (from == to) return sender->intra_latency < 0 || machine->nodes[from].intra_bandwidth.law != LAW_CONSTANT;
    if (sender->network != receiver->network)
        return sender->wan_latency < 0 || receiver->wan_latency < 0 || machine->wan_bandwidth.law != LAW_CONSTANT;
    return sender->latency < 0 || receiver->latency < 0 ||
           machine->networks[sender->network].bandwidth.law != LAW_CONSTANT;
}

struct cost cost_message(const struct sim *sim, struct thread *thread, int32_t from, int32_t to, int64_t bytes)
{
    const struct machine *machine = sim->machine;
    const struct site *site = &sim->sites[from];
    const struct node *node = &machine->nodes[from];
    const struct curve *curve = curve_between(sim, from, to);
    struct cost cost;
    double bandwidth;
    if (curve) {
        const struct curve_piece *p = piece_of(curve, bytes);
        cost.cpu = at_least_0(p->cpu + p->cpu_slope * (double)bytes);
        cost.wire = at_least_0(p->wire + p->wire_slope * (double)bytes);
        cost.hold = at_least_0(p->hold + p->hold_slope * (double)bytes);
        return cost;
    }
    if (from == to) {
        cost.cpu = quantity_ns(site->intra_latency, &node->intra_latency, sim, thread);
        bandwidth = bandwidth_of(&node->intra_bandwidth, sim, thread);
    } else if (site->network != sim->sites[to].network) {
        cost.cpu = quantity_ns(site->wan_latency, &node->wan_latency, sim, thread);
        bandwidth = bandwidth_of(&machine->wan_bandwidth, sim, thread);
    } else {
        cost.cpu = quantity_ns(site->latency, &node->latency, sim, thread);
        bandwidth = bandwidth_of(&machine->networks[site->network].bandwidth, sim, thread);
    }
    cost.wire = cost.hold = transfer_ns((double)bytes, bandwidth);
    return cost;
}

int64_t cost_receive(const struct sim *sim, struct thread *thread, int32_t from, int32_t to, int64_t bytes)
{
    if (!sim->machine->receiver_pays) return 0;
    if (curve_between(sim, from, to)) return cost_message(sim, thread, from, to, bytes).cpu;
    const struct site *site = &sim->sites[to];
    const struct node *node = &sim->machine->nodes[to];
    if (from == to) return quantity_ns(site->intra_latency, &node->intra_latency, sim, thread);
    if (sim->sites[from].network != site->network)
        return quantity_ns(site->wan_latency, &node->wan_latency, sim, thread);
    return quantity_ns(site->latency, &node->latency, sim, thread);
}

/* Messages that a binary tree over n members sends one after the other, where `buses` can travel at once (F4). */
static int64_t steps(int64_t n, int64_t buses)
{
    int64_t sum = 0;
    for (int64_t reached = 1; reached < n; reached *= 2) {
        int64_t at_once = reached < n - reached ? reached : n - reached;
        sum += buses > 0 ? (at_once + buses - 1) / buses : 1;
    }
    return sum;
}

static double collective_size(int32_t which, int64_t sent, int64_t received, bool fan_out)
{
    if (which == SIZE_PHASE) return (double)(fan_out ? received : sent);
    int64_t most = sent > received ? sent : received, least = sent < received ? sent : received;
    if (which == SIZE_MIN_) return (double)least;
    if (which == SIZE_MEAN) return ((double)sent + (double)received) / 2;
    if (which == SIZE_TWICE_MAX) return 2 * (double)most;
    return which == SIZE_SUM ? (double)sent + (double)received : (double)most;
}

static int64_t factor_of(int32_t model, int64_t members, int64_t buses)
{
    if (model == MODEL_LOG) return steps(members, buses);
    return model == MODEL_LINEAR ? members : model == MODEL_CONSTANT;
}

/* Where the members of a communicator are. */
struct reach {
    const int32_t *members;
    int64_t n;
    const struct node *node; /* of the first */
    bool one_node, one_network;
};

static struct reach reach_of(const struct sim *sim, const struct instance *instance)
{
    const struct program *program = instance->app->program;
    const int64_t *offsets = program->comm_offsets + instance->comm;
    const int32_t *members = program->members + offsets[0];
    int32_t first = program->node[members[0]];
    struct reach reach = {members, offsets[1] - offsets[0], &sim->machine->nodes[first], true, true};
    for (int64_t i = 1; i < reach.n; i++) {
        int32_t node = program->node[members[i]];
        reach.one_node &= node == first;
        reach.one_network &= sim->sites[node].network == reach.node->network;
    }
    return reach;
}

/* That of the node where all members are, else the worst of the members. */
static double latency_of(const struct sim *sim, const struct instance *instance, const struct reach *reach,
                         struct draws *draws)
{
    if (reach->one_node) return draw_value(&reach->node->intra_latency, sim->machine->seed, draws, false);
    double worst = 0;
    for (int64_t i = 0; i < reach->n; i++) {
        const struct node *node = &sim->machine->nodes[instance->app->program->node[reach->members[i]]];
        double mine =
            draw_value(reach->one_network ? &node->latency : &node->wan_latency, sim->machine->seed, draws, false);
        if (mine > worst) worst = mine;
    }
    return worst;
}

int64_t cost_collective(const struct sim *sim, const struct instance *instance)
{
    const struct machine *machine = sim->machine;
    struct draws draws = instance->draws;
    struct reach reach = reach_of(sim, instance);
    const struct network *network = &machine->networks[reach.node->network];
    bool inside = reach.one_node, near = reach.one_network;
    const struct quantity *rate = inside ? &reach.node->intra_bandwidth : &machine->wan_bandwidth;
    if (!inside && near) rate = &network->bandwidth;
    double latency = latency_of(sim, instance, &reach, &draws),
           bandwidth = draw_value(rate, machine->seed, &draws, true);
    const struct collective_model *model = &machine->collectives[instance->operation % COLLECTIVES];
    int64_t sent = model->largest ? instance->sent : instance->root_sent;
    int64_t received = model->largest ? instance->received : instance->root_received;
    int64_t buses = inside ? reach.node->intra_buses : near ? network->buses : 0;
    double sizes[2] = {collective_size(model->in_size, sent, received, false),
                       collective_size(model->out_size, sent, received, true)};
    int64_t factors[2] = {factor_of(model->in_model, reach.n, buses), factor_of(model->out_model, reach.n, buses)};
    const struct curve *curve = inside ? &reach.node->intra : near ? &network->measured : NULL;
    int64_t total = 0;
    for (int k = 0; k < 2; k++) {
        int64_t once = ns_of(latency) + transfer_ns(sizes[k], bandwidth);
        if (curve && curve->n_pieces) {
            const struct curve_piece *p = piece_of(curve, (int64_t)sizes[k]);
            once = at_least_0(p->cpu + p->wire + (p->cpu_slope + p->wire_slope) * sizes[k]);
        }
        total += (double)factors[k] * (double)once < (double)LONGEST ? factors[k] * once : LONGEST;
    }
    return total;
}

static int64_t file_time(const struct sim *sim, struct thread *thread, const struct quantity *time)
{
    return ns_of(value_for(time, sim, thread, false));
}

/* In whole blocks. */
static double moved_bytes(int64_t bytes, int64_t block)
{
    return block > 1 ? (double)((bytes - 1) / block + 1) * (double)block : (double)bytes;
}

static int64_t moving(const struct sim *sim, struct thread *thread, const struct quantity *rate)
{
    const struct file_system *files = &sim->machine->files;
    int64_t latency = file_time(sim, thread, &files->latency), bytes = thread->op->bytes;
    double bandwidth = bandwidth_of(rate, sim, thread);
    int64_t ns = latency + (bytes ? transfer_ns(moved_bytes(bytes, files->block), bandwidth) : 0);
    return ns < LONGEST ? ns : LONGEST;
}

int64_t cost_file(const struct sim *sim, struct thread *thread)
{
    const struct file_system *files = &sim->machine->files;
    switch (thread->op->tag) {
    case FILE_READ:
        return moving(sim, thread, &files->read);
    case FILE_WRITE:
        return moving(sim, thread, &files->write);
    case FILE_OPEN:
        return file_time(sim, thread, &files->open);
    case FILE_CLOSE:
        return file_time(sim, thread, &files->close);
    case FILE_SYNC:
        return file_time(sim, thread, &files->sync);
    default:
        return 0;
    }
}
