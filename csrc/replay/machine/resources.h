#ifndef RESOURCES_H
#define RESOURCES_H
/* Links and buses of nodes and networks, by number. */

#include "state/instance.h"
#include "state/sim.h"

/* Number the limited ones and note how many there are of each, after sites_init. false: no memory. */
bool resources_init(struct sim *sim);

/* What a message from a node to another needs one of; -1: nothing. */
void resources_between(const struct sim *sim, int32_t from, int32_t to, int32_t *resource);

/* The network of the first member, whose buses a collective takes. */
int32_t resources_network(const struct sim *sim, const struct instance *instance);

#endif
