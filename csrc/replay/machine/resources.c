/* Links and buses of nodes and networks: the limited ones have numbers, and behind them the buses of the networks. */
#include "machine/resources.h"

#include "machine/site.h"

/* How many there are of a resource of a node; 0: as many as wanted. */
static int32_t count_of(const struct node *node, enum resource_kind kind)
{
    switch (kind) {
    case OUT:
        return node->links_out;
    case IN:
        return node->links_in;
    case INTRA_OUT:
        return node->intra_out;
    case INTRA_IN:
        return node->intra_in;
    default:
        return node->intra_buses;
    }
}

/* Number the limited resources of all nodes, one after the other. */
static void number_resources(struct sim *sim)
{
    for (int32_t i = 0; i < sim->machine->n_nodes; i++) {
        struct site *site = &sim->sites[i];
        site->resources = sim->first_bus;
        for (int kind = 0; kind < PER_NODE; kind++) {
            if (count_of(&sim->machine->nodes[i], (enum resource_kind)kind) <= 0) continue;
            site->limited |= (uint8_t)(1 << kind);
            sim->first_bus++;
        }
    }
    sim->n_resources = sim->first_bus + sim->machine->n_networks;
}

/* The resource of a node, -1: it has as many as wanted. */
static int32_t one_of(const struct sim *sim, int32_t node, enum resource_kind kind)
{
    const struct site *site = &sim->sites[node];
    unsigned before = (1u << kind) - 1;
    return site->limited >> kind & 1 ? site->resources + __builtin_popcount(site->limited & before) : -1;
}

bool resources_init(struct sim *sim)
{
    const struct machine *machine = sim->machine;
    number_resources(sim);
    sim->resources = arena_zeros(&sim->arena, (size_t)sim->n_resources, sizeof *sim->resources);
    if (!sim->resources) return false;
    for (int32_t i = 0; i < machine->n_nodes; i++)
        for (int kind = 0; kind < PER_NODE; kind++) {
            int32_t number = one_of(sim, i, (enum resource_kind)kind);
            if (number >= 0) sim->resources[number].free = count_of(&machine->nodes[i], (enum resource_kind)kind);
        }
    for (int32_t k = 0; k < machine->n_networks; k++)
        sim->resources[sim->first_bus + k].free = machine->networks[k].buses;
    return true;
}

void resources_between(const struct sim *sim, int32_t from, int32_t to, int32_t *r)
{
    if (from == to) {
        r[0] = one_of(sim, from, INTRA_OUT);
        r[1] = one_of(sim, from, INTRA_IN);
        r[2] = one_of(sim, from, INTRA_BUS);
        return;
    }
    int32_t network = sim->sites[from].network;
    bool one_network = network == sim->sites[to].network;
    r[0] = one_of(sim, from, OUT);
    r[1] = one_of(sim, to, sim->sites[to].half_duplex ? OUT : IN);
    r[2] = one_network && sim->machine->networks[network].buses > 0 ? sim->first_bus + network : -1;
}

int32_t resources_network(const struct sim *sim, const struct instance *instance)
{
    int32_t rank = instance->app->program->members[instance->app->program->comm_offsets[instance->comm]];
    return sim->machine->nodes[instance->app->program->node[rank]].network;
}
