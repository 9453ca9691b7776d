/* Links and buses as Dimemas 5.5 gives them: a message takes an outgoing link, then an incoming one, then a bus, and
   keeps what it has while it waits for the next. Who waits is served in order of asking. A message that has its
   outgoing link and waits for an incoming one lends it to another that could go at once, and is then the first to get
   one. A collective takes each bus that becomes free until it has all.

   Messages within a node, and those of machines with half duplex links, take all at once: network.c. */
#include "network/internal/in_turn.h"

#include <stdlib.h>

#include "common/array.h"
#include "machine/resources.h"
#include "network/internal/queue.h"
#include "network/start.h"
#include "state/fail.h"
#include "state/instance.h"
#include "state/messages.h"

bool in_turn_init(struct sim *sim)
{
    const struct machine *machine = sim->machine;
    sim->in_turn = machine->as_dimemas;
    for (int32_t k = 0; k < machine->n_nodes; k++) sim->in_turn &= !machine->nodes[k].half_duplex;
    if (!sim->in_turn) return true;
    sim->holders = arena_zeros(&sim->arena, (size_t)sim->n_resources, sizeof *sim->holders);
    return sim->holders;
}

void in_turn_free(struct sim *sim)
{
    for (int32_t k = 0; sim->holders && k < sim->n_resources; k++) free(sim->holders[k].at);
}

/* ---- Who has an outgoing link. */

static bool holders_add(struct holders *holders, struct message *message)
{
    if (holders->n == holders->room && !ARRAY_GROW(holders->at, holders->room, 4)) return false;
    holders->at[holders->n++] = message;
    return true;
}

static int32_t holders_place(const struct holders *holders, const struct message *message)
{
    int32_t k = 0;
    while (holders->at[k] != message) k++;
    return k;
}

static void holders_remove(struct holders *holders, const struct message *message)
{
    int32_t k = holders_place(holders, message);
    memmove(holders->at + k, holders->at + k + 1, (size_t)(--holders->n - k) * sizeof(struct message *));
}

/* The first that waits for an incoming link; NULL: all are under way. */
static struct message *lender(const struct holders *holders)
{
    for (int32_t k = 0; k < holders->n; k++)
        if (!holders->at[k]->has_in) return holders->at[k];
    return NULL;
}

/* ---- Taking one thing after the other. */

static void wait_at(struct sim *sim, int32_t number, struct message *message, bool first)
{
    message->sequence = first ? -++sim->sequence : ++sim->sequence;
    if (!queue_push(&sim->resources[number].parked, message)) fail(sim, REPLAY_NO_MEMORY, NULL, NULL, -1);
    sim->parked++;
}

static void borrow(struct sim *sim, struct message *message)
{
    struct holders *holders = &sim->holders[message->resource[0]];
    struct message *from = lender(holders);
    holders->at[holders_place(holders, from)] = message;
    message->has_out = true;
    from->has_out = false;
    queue_remove(&sim->resources[from->resource[1]].parked, from);
    sim->parked--;
    wait_at(sim, from->resource[0], from, true);
}

static void take_out_waiting(struct sim *sim, struct message *message)
{
    sim->resources[message->resource[0]].free--;
    message->has_out = true;
    if (!holders_add(&sim->holders[message->resource[0]], message)) fail(sim, REPLAY_NO_MEMORY, NULL, NULL, -1);
}

/* false: it waits for a link. */
static bool take_links(struct sim *sim, struct message *message)
{
    int32_t out = message->resource[0], in = message->resource[1];
    bool borrows = false;
    if (out >= 0 && !message->has_out) {
        borrows = sim->resources[out].free <= 0;
        if (!borrows) take_out_waiting(sim, message);
        if (borrows && !lender(&sim->holders[out])) {
            wait_at(sim, out, message, false);
            return false;
        }
    }
    if (in >= 0 && !message->has_in && sim->resources[in].free <= 0) {
        wait_at(sim, borrows ? out : in, message, false);
        return false;
    }
    if (borrows) borrow(sim, message);
    if (in >= 0 && !message->has_in) sim->resources[in].free--;
    message->has_in = true;
    return true;
}

static void begin_or_wait(struct sim *sim, struct message *message)
{
    if (!take_links(sim, message)) return;
    int32_t bus = message->resource[2];
    if (bus >= 0 && sim->resources[bus].free <= 0) {
        wait_at(sim, bus, message, false);
        return;
    }
    if (bus >= 0) sim->resources[bus].free--;
    start_message(sim, message);
}

/* ---- Who is next. */

/* The first collective that waits for the buses of a network. */
static struct instance *waiting_for(const struct sim *sim, int32_t network)
{
    struct instance *instance = sim->holding;
    while (instance && (instance->running || resources_network(sim, instance) != network))
        instance = instance->next_holding;
    return instance;
}

static void serve_collective(struct sim *sim, struct instance *instance, int32_t network)
{
    struct resource *bus = &sim->resources[sim->first_bus + network];
    instance->buses += bus->free;
    bus->free = 0;
    if (instance->buses == sim->machine->networks[network].buses) start_collective(sim, instance);
}

static void serve(struct sim *sim, int32_t number)
{
    struct resource *r = &sim->resources[number];
    struct instance *instance = number < sim->first_bus ? NULL : waiting_for(sim, number - sim->first_bus);
    while (r->free > 0 && r->parked.n && !(instance && instance->sequence < r->parked.first.sequence)) {
        sim->parked--;
        begin_or_wait(sim, queue_pop(&r->parked));
    }
    if (instance && r->free > 0) serve_collective(sim, instance, number - sim->first_bus);
}

/* One after the other: who gets the outgoing link finds the others taken still. */
void in_turn_leave(struct sim *sim, struct message *message)
{
    if (message->resource[0] >= 0) holders_remove(&sim->holders[message->resource[0]], message);
    for (int k = 0; k < 3; k++) {
        if (message->resource[k] < 0) continue;
        sim->resources[message->resource[k]].free++;
        serve(sim, message->resource[k]);
    }
}

void in_turn_ended(struct sim *sim, struct instance *instance)
{
    struct instance **at = &sim->holding;
    while (*at != instance) at = &(*at)->next_holding;
    *at = instance->next_holding;
    if (!*at) sim->last_holding = at;
    int32_t bus = sim->first_bus + resources_network(sim, instance);
    sim->resources[bus].free += instance->buses;
    serve(sim, bus);
}

void in_turn_scan(struct sim *sim)
{
    while (sim->between.fresh.n && !sim->failed) begin_or_wait(sim, queue_pop(&sim->between.fresh));
    for (int32_t k = sim->first_bus; sim->holding && k < sim->n_resources; k++)
        if (sim->machine->networks[k - sim->first_bus].buses > 0) serve(sim, k);
}
