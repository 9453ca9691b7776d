#ifndef SUPPLY_H
#define SUPPLY_H
/* Where a stream's operations come from: their packed form, in memory or in a file. */

#include "packed/unpack.h"
#include "state/sim.h"

/* Of a stream. Its operations repeat a few, of which it has the plans; behind it is the buffer. */
struct supply {
    _Alignas(LINE) struct plan plans[PACK_PLACES];
    struct sending sendings[PACK_PLACES]; /* of those that send */
    struct op shapes[PACK_PLACES];
    int64_t position; /* where what comes after the buffer stands */
};

/* supply_init is false: no memory. supply_next_new: where that is not only a burst of a known operation. */
bool supply_init(struct sim *sim, struct app *app);
void supply_open(struct sim *sim, struct thread *thread);
int64_t supply_next_new(struct sim *sim, struct thread *thread);

/* Take the next operation of the thread, if there is any; returns its burst. */
static inline int64_t supply_next(struct sim *sim, struct thread *thread)
{
    struct supply *supply = thread->supply;
    bool known = thread->to_come && thread->stop - thread->at >= PACK_MOST && !(*thread->at & PACK_NEW);
    if (!known) return supply_next_new(sim, thread);
    int64_t burst;
    unsigned place = unpack_place(supply->shapes, &thread->at, &burst) % PACK_PLACES;
    thread->to_come--;
    thread->op = &supply->shapes[place];
    thread->plan = &supply->plans[place];
    return burst;
}

/* Of the thread's operation, which sends. */
static inline struct sending *thread_sending(const struct thread *thread)
{
    return &thread->supply->sendings[thread->plan - thread->supply->plans];
}

#endif
