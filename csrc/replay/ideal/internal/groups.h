#ifndef IDEAL_GROUPS_H
#define IDEAL_GROUPS_H
/* Collectives: all members wait for the last one. */

#include "ideal/internal/state.h"

bool groups_init(struct ideal *ideal);

/* The operation of a rank enters a collective; it waits for one that it has entered. false: it waits, or nothing goes
   on. */
bool groups_enter(struct ideal *ideal, struct rank_at *rank, const struct op *op, struct known *known);
bool groups_wait(struct ideal *ideal, struct rank_at *rank, const struct op *op, struct gathering *gathering);

/* What another process tells of its members. */
void groups_told(struct ideal *ideal, const struct told *told);

#endif
