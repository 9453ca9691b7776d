/* Properties of nodes that operations need, computed once: thousands of nodes in the machine's form fill the caches. */
#include "machine/site.h"

#include "common/duration.h"

/* ns; -1: it is random. */
static int64_t constant_ns(const struct quantity *seconds)
{
    if (seconds->law != LAW_CONSTANT) return -1;
    return seconds->a > 0 ? ns_of(seconds->a) : 0;
}

bool sites_init(struct sim *sim)
{
    const struct machine *machine = sim->machine;
    sim->sites = arena_zeros(&sim->arena, (size_t)machine->n_nodes, sizeof *sim->sites);
    if (!sim->sites) return false;
    for (int32_t k = 0; k < machine->n_nodes; k++) {
        const struct node *node = &machine->nodes[k];
        struct site *site = &sim->sites[k];
        site->latency = constant_ns(&node->latency);
        site->intra_latency = constant_ns(&node->intra_latency);
        site->wan_latency = constant_ns(&node->wan_latency);
        site->network = node->network;
        site->half_duplex = node->half_duplex;
        site->speed = node->speed.law == LAW_CONSTANT ? node->speed.a : 0;
    }
    return true;
}
