#ifndef RESOURCES_H
#define RESOURCES_H
/* Links and buses of nodes and networks, by number. */

#include "state/instance.h"
#include "state/sim.h"

/* Number the limited resources and note how many there are of each. Call it after sites_init. Returns false if there is
   no memory. */
bool resources_init(struct sim *sim);

/* Set resource[3] to the limited resources of which a message from a node to another needs one each; -1: none. */
void resources_between(const struct sim *sim, int32_t from, int32_t to, int32_t *resource);

/* Return the network of a collective's first member. The collective takes the buses of this network. */
int32_t resources_network(const struct sim *sim, const struct instance *instance);

#endif
