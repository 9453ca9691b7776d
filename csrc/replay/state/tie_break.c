/* Order of two events of the same phase and instant: by application, rank, thread and operation. Of two messages of
   in_turn.c, the one that started first comes first. */
#include "state/tie_break.h"

#include "state/instance.h"
#include "state/messages.h"
#include "state/thread.h"

bool event_tie(const struct event *a, const struct event *b)
{
    switch (a->order & 255) {
    case PHASE_ARRIVE:
    case PHASE_FREE:
    case PHASE_MEET: {
        const struct message *x = a->what, *y = b->what;
        bool arrive = (a->order & 255) == PHASE_ARRIVE;
        if (arrive && x->by_start) return x->sequence < y->sequence;
        uint64_t who = x->sender->who, other = y->sender->who;
        return who != other ? who < other : x->op < y->op;
    }
    case PHASE_ENDED: {
        const struct instance *x = a->what, *y = b->what;
        if (x->app != y->app) return x->app < y->app;
        return x->comm != y->comm ? x->comm < y->comm : x->number < y->number;
    }
    case PHASE_DISPATCH:
        return a->what < b->what;
    case PHASE_TICK:
    case PHASE_NETWORK:
        return false;
    default:
        return ((const struct thread *)a->what)->who < ((const struct thread *)b->what)->who;
    }
}
