#ifndef NETWORK_H
#define NETWORK_H
/* Links, buses and who waits for them. */

#include "state/sim.h"

/* Set up the network, after resources_init; returns false if there is no memory. */
bool network_init(struct sim *sim);
void network_free(struct sim *sim);

/* Enter a message that is to be sent. Give back the links and buses that a message took. */
void network_enter(struct sim *sim, struct message *message);
void network_leave(struct sim *sim, struct message *message);

/* Give the network back, if the collective held it. */
void network_collective_ended(struct sim *sim, struct instance *instance);

/* Start all messages that can start now, in order of submission. */
void network_scan(struct sim *sim);

/* Count the messages that waited for the network since the last count. */
void network_count(struct sim *sim);

#endif
