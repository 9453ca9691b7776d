#ifndef IN_TURN_H
#define IN_TURN_H
/* Links and buses as Dimemas gives them, between nodes. */

#include "state/sim.h"

/* false: no memory. */
bool in_turn_init(struct sim *sim);
void in_turn_free(struct sim *sim);
void in_turn_leave(struct sim *sim, struct message *message);
void in_turn_ended(struct sim *sim, struct instance *instance); /* a collective */
void in_turn_scan(struct sim *sim);

#endif
