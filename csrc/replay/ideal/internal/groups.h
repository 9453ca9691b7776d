#ifndef IDEAL_GROUPS_H
#define IDEAL_GROUPS_H
/* Collectives: all members wait for the last one. */

#include "ideal/internal/state.h"

/* Make the groups of all communicators. Call once, before any operation. Returns false if there is no memory. */
bool groups_init(struct ideal *ideal);

/* Let the operation of a rank enter a collective, or wait for a collective that it has entered. Both return false if
   the rank waits, or the replay ends with an error. */
bool groups_enter(struct ideal *ideal, struct rank_at *rank, const struct op *op, struct known *known);
bool groups_wait(struct ideal *ideal, struct rank_at *rank, const struct op *op, struct gathering *gathering);

/* Take the fact that the members at another process entered a collective. */
void groups_told(struct ideal *ideal, const struct told *told);

#endif
