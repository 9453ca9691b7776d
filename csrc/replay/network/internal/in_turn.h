#ifndef IN_TURN_H
#define IN_TURN_H
/* Links and buses as Dimemas gives them, between nodes. */

#include "state/sim.h"

/* Set up and release; a message gives back its links, a collective its buses; start all that can start now.
   in_turn_init returns false if there is no memory. */
bool in_turn_init(struct sim *sim);
void in_turn_free(struct sim *sim);
void in_turn_leave(struct sim *sim, struct message *message);
void in_turn_ended(struct sim *sim, struct instance *instance);
void in_turn_scan(struct sim *sim);

#endif
