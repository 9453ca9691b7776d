/* List of the facts that other processes are to be told. */
#include "common/array.h"
#include "ideal/internal/state.h"

bool outbox_add(struct ideal *ideal, struct told told)
{
    struct ideal_state *state = &ideal->state;
    if ((size_t)state->n_telling == ideal->telling_room && !ARRAY_GROW(ideal->telling, ideal->telling_room, 256))
        return refuse(ideal, IDEAL_NO_MEMORY);
    ideal->telling[state->n_telling++] = told;
    return true;
}
