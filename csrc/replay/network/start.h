#ifndef START_H
#define START_H
/* Messages and collectives start. */

#include "state/sim.h"

struct instance;
struct message;

/* It has all that it needs. */
void start_message(struct sim *sim, struct message *message);

/* All members are there, and the network is its own where it has to be. */
void start_collective(struct sim *sim, struct instance *instance);

#endif
