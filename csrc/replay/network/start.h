#ifndef START_H
#define START_H
/* Messages and collectives start. */

#include "state/sim.h"

struct instance;
struct message;

/* Start a message that has its links and, in rendezvous, its receive. */
void start_message(struct sim *sim, struct message *message);

/* Start a collective: all members are there, and it holds the network where it must. */
void start_collective(struct sim *sim, struct instance *instance);

#endif
