/* Turns of threads of a rank that call collectives of one communicator. */
#ifndef OP_TURNS_H
#define OP_TURNS_H

#include "operations/internal/op_walk.h"

/* Return the semaphore of a communicator's turns; NULL: no two threads call its collectives. */
int32_t *op_turn_of(struct op_walk *walk, const struct op_plans *plans, int32_t comm);

/* Write the operations by which the thread waits for its turn, and hands it on. turn: NULL: nothing is written. */
void op_take_turn(struct op_walk *walk, struct op_thread *thread, const int32_t *turn);
void op_end_turn(struct op_walk *walk, struct op_thread *thread, int32_t *turn);

/* Write a collective that all threads of the communicator call in the same order. */
void op_put_global(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans, struct op op);

#endif
