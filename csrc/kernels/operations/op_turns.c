/* Whose turn it is among threads that call collectives of one communicator: the order in which they did is kept. */
#include "operations/internal/op_turns.h"

int32_t *op_turn_of(struct op_walk *walk, const struct op_plans *plans, int32_t comm)
{
    return plans->by_turns && plans->by_turns[comm] ? &walk->turn[comm] : NULL;
}

void op_take_turn(struct op_walk *walk, struct op_thread *thread, const int32_t *turn)
{
    if (turn && *turn) op_put_semaphore(walk, thread, OP_SEM_WAIT, TURNS + (int64_t)*turn);
}

void op_end_turn(struct op_walk *walk, struct op_thread *thread, int32_t *turn)
{
    if (!turn) return;
    *turn = ++walk->turns;
    op_put_semaphore(walk, thread, OP_SEM_SIGNAL, TURNS + (int64_t)*turn);
}

void op_put_global(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans, struct op op)
{
    int32_t *turn = op_turn_of(walk, plans, op.comm);
    op_take_turn(walk, thread, turn);
    op_put(walk, thread, op);
    op_end_turn(walk, thread, turn);
}
