#ifndef NETWORK_H
#define NETWORK_H
/* Links, buses and who waits for them. */

#include "state/sim.h"

/* false: no memory. The resources are there. */
bool network_init(struct sim *sim);
void network_free(struct sim *sim);

/* A message is there to be sent; it gives back what it took. */
void network_enter(struct sim *sim, struct message *message);
void network_leave(struct sim *sim, struct message *message);

/* A collective gives the network back, if it held it. */
void network_collective_ended(struct sim *sim, struct instance *instance);

/* Look at all messages that could start. */
void network_scan(struct sim *sim);

/* Note what waited since the last count. */
void network_count(struct sim *sim);

#endif
