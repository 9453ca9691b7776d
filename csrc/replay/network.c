/* Links and buses. A message takes all that it needs at once or waits; those that wait are looked at in the order of
   their submission, and one that can start may pass one that cannot.

   A message that waits is parked at one resource that it found taken. Nobody looks at it before that resource is
   free again: until then it could not start anyway. So a scan costs what changed, not what waits. */

#include <stdlib.h>

#include "sim.h"

/* Resources of a node, then the buses of all networks. Half duplex: both links are the first one. */
enum { OUT, IN, INTRA_OUT, INTRA_IN, INTRA_BUS, PER_NODE };

static int64_t bus_of(const struct sim *sim, int32_t network)
{
    return (int64_t)sim->machine->n_nodes * PER_NODE + network;
}

bool network_init(struct sim *sim)
{
    const struct machine *machine = sim->machine;
    sim->n_resources = (int32_t)bus_of(sim, machine->n_networks);
    sim->resources = calloc((size_t)sim->n_resources, sizeof *sim->resources);
    sim->freed = calloc((size_t)sim->n_resources, sizeof *sim->freed);
    sim->candidates = calloc((size_t)sim->n_resources, sizeof *sim->candidates);
    if (!sim->resources || !sim->freed || !sim->candidates) return false;
    for (int32_t i = 0; i < machine->n_nodes; i++) {
        const struct node *node = &machine->nodes[i];
        struct resource *r = &sim->resources[i * PER_NODE];
        r[OUT].free = node->links_out;
        r[IN].free = node->links_in;
        r[INTRA_OUT].free = node->intra_out;
        r[INTRA_IN].free = node->intra_in;
        r[INTRA_BUS].free = node->intra_buses;
    }
    for (int32_t k = 0; k < machine->n_networks; k++) sim->resources[bus_of(sim, k)].free = machine->networks[k].buses;
    sim->last_holding = &sim->holding;
    sim->scan_at = -1;
    return true;
}

void network_free(struct sim *sim)
{
    for (int32_t k = 0; sim->resources && k < sim->n_resources; k++) free(sim->resources[k].parked);
    free(sim->resources);
    free(sim->freed);
    free(sim->candidates);
    free(sim->fresh);
}

static int32_t limited(int32_t number, int64_t resource)
{
    return number > 0 ? (int32_t)resource : -1;
}

static void resources_of(const struct sim *sim, struct message *message, int32_t from, int32_t to)
{
    const struct node *source = &sim->machine->nodes[from], *destination = &sim->machine->nodes[to];
    int64_t s = (int64_t)from * PER_NODE, d = (int64_t)to * PER_NODE;
    int32_t *r = message->resource;
    if (from == to) {
        r[0] = limited(source->intra_out, s + INTRA_OUT);
        r[1] = limited(source->intra_in, s + INTRA_IN);
        r[2] = limited(source->intra_buses, s + INTRA_BUS);
        return;
    }
    r[0] = limited(source->links_out, s + OUT);
    r[1] = destination->half_duplex ? limited(destination->links_out, d + OUT) : limited(destination->links_in, d + IN);
    r[2] = source->network == destination->network
               ? limited(sim->machine->networks[source->network].buses, bus_of(sim, source->network))
               : -1;
}

/* Parked messages: a binary heap by sequence. */

static bool park(struct sim *sim, struct resource *r, struct message *message)
{
    if (r->n == r->room) {
        size_t room = r->room ? 2 * r->room : 8;
        struct parked *parked = realloc(r->parked, room * sizeof *parked);
        if (!parked) return false;
        r->parked = parked;
        r->room = room;
    }
    size_t k = r->n++;
    for (; k && message->sequence < r->parked[(k - 1) / 2].sequence; k = (k - 1) / 2)
        r->parked[k] = r->parked[(k - 1) / 2];
    r->parked[k] = (struct parked){message->sequence, message};
    if (++sim->parked > sim->result->busiest) sim->result->busiest = sim->parked;
    return true;
}

static struct message *unpark(struct sim *sim, struct resource *r)
{
    struct parked top = r->parked[0], last = r->parked[--r->n];
    size_t k = 0;
    for (size_t child; (child = 2 * k + 1) < r->n; k = child) {
        if (child + 1 < r->n && r->parked[child + 1].sequence < r->parked[child].sequence) child++;
        if (r->parked[child].sequence > last.sequence) break;
        r->parked[k] = r->parked[child];
    }
    r->parked[k] = last;
    sim->parked--;
    return top.message;
}

static bool is_inter(const struct message *message)
{
    return message->sender->node != message->to;
}

static void start(struct sim *sim, struct message *message)
{
    for (int k = 0; k < 3; k++)
        if (message->resource[k] >= 0) sim->resources[message->resource[k]].free--;
    if (is_inter(message)) sim->in_flight++;
    message->started = true;
    message->start = sim->now;
    int64_t arrives = sim->now + message->wire;
    if (message->hold != message->wire) {
        message->overlong = message->held = true;
        schedule(sim, sim->now + message->hold, PHASE_FREE, message, 0);
    }
    schedule(sim, arrives, PHASE_ARRIVE, message, 0);
    message_started(sim, message);
}

void network_ask(struct sim *sim)
{
    if (sim->scan_at == sim->now) return;
    sim->scan_at = sim->now;
    schedule(sim, sim->now, PHASE_NETWORK, NULL, 0);
}

void network_enter(struct sim *sim, struct message *message, int32_t from, int32_t to)
{
    message->entered = true;
    message->sequence = ++sim->sequence;
    resources_of(sim, message, from, to);
    bool needs = message->resource[0] >= 0 || message->resource[1] >= 0 || message->resource[2] >= 0;
    if (!needs && (from == to || !sim->holding)) {
        start(sim, message);
        return;
    }
    if (sim->n_fresh == sim->fresh_room) {
        size_t room = sim->fresh_room ? 2 * sim->fresh_room : 64;
        struct message **fresh = realloc(sim->fresh, room * sizeof *fresh);
        if (!fresh) {
            fail(sim, REPLAY_NO_MEMORY, NULL, NULL, -1);
            return;
        }
        sim->fresh = fresh;
        sim->fresh_room = room;
    }
    sim->fresh[sim->n_fresh++] = message;
    network_ask(sim);
}

static void release(struct sim *sim, int32_t number)
{
    struct resource *r = &sim->resources[number];
    r->free++;
    if (!r->n || r->listed) return;
    r->listed = true;
    sim->freed[sim->n_freed++] = number;
    network_ask(sim);
}

void network_leave(struct sim *sim, struct message *message)
{
    for (int k = 0; k < 3; k++)
        if (message->resource[k] >= 0) release(sim, message->resource[k]);
    if (is_inter(message) && --sim->in_flight == 0 && sim->holding) network_ask(sim);
}

/* The freed resources during a scan: a heap by the sequence of the first message parked at each. None can become free
   in a scan, so one that was taken is dropped when its turn comes, whatever was parked at it since. */

static void candidate_push(struct sim *sim, int32_t number)
{
    struct candidate new = {sim->resources[number].parked[0].sequence, number};
    size_t k = sim->n_candidates++;
    for (; k && new.sequence < sim->candidates[(k - 1) / 2].sequence; k = (k - 1) / 2)
        sim->candidates[k] = sim->candidates[(k - 1) / 2];
    sim->candidates[k] = new;
}

static int32_t candidate_pop(struct sim *sim)
{
    struct candidate *at = sim->candidates, top = at[0], last = at[--sim->n_candidates];
    size_t k = 0;
    for (size_t child; (child = 2 * k + 1) < sim->n_candidates; k = child) {
        if (child + 1 < sim->n_candidates && at[child + 1].sequence < at[child].sequence) child++;
        if (at[child].sequence > last.sequence) break;
        at[k] = at[child];
    }
    at[k] = last;
    return top.number;
}

static bool has_candidates(const struct sim *sim, int32_t number)
{
    return sim->resources[number].free > 0 && sim->resources[number].n;
}

static void start_or_park(struct sim *sim, struct message *message)
{
    for (int k = 0; k < 3; k++) {
        if (message->resource[k] < 0 || sim->resources[message->resource[k]].free > 0) continue;
        if (!park(sim, &sim->resources[message->resource[k]], message)) fail(sim, REPLAY_NO_MEMORY, NULL, NULL, -1);
        return;
    }
    start(sim, message);
}

void network_scan(struct sim *sim)
{
    sim->scan_at = -1;
    if (sim->holding) {
        if (!sim->in_flight && !sim->holding->running) collective_start(sim, sim->holding);
        return;
    }
    for (; sim->n_freed; sim->n_freed--) {
        int32_t number = sim->freed[sim->n_freed - 1];
        sim->resources[number].listed = false;
        if (has_candidates(sim, number)) candidate_push(sim, number);
    }
    while (!sim->failed && (sim->n_candidates || sim->first_fresh < sim->n_fresh)) {
        struct message *fresh = sim->first_fresh < sim->n_fresh ? sim->fresh[sim->first_fresh] : NULL;
        if (sim->n_candidates && (!fresh || sim->candidates[0].sequence < fresh->sequence)) {
            int32_t number = candidate_pop(sim);
            if (!has_candidates(sim, number)) continue;
            start_or_park(sim, unpark(sim, &sim->resources[number]));
            if (has_candidates(sim, number)) candidate_push(sim, number);
        } else {
            sim->first_fresh++;
            start_or_park(sim, fresh);
        }
    }
    sim->n_fresh = sim->first_fresh = 0;
}
