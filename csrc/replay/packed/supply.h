#ifndef SUPPLY_H
#define SUPPLY_H
/* Where a stream's operations come from: their packed form, in memory or in a file. */

#include "packed/unpack.h"
#include "state/sim.h"

/* Supply of a stream's operations, which repeat a few. Behind this are, for each place of a dictionary that is used,
   the plan, the struct sending of those that send, and the struct op, then the buffer: with many ranks nearly all
   memory is that of supplies. */
struct supply {
    _Alignas(LINE) int64_t position; /* where what comes after the buffer stands */
};

/* Return the plans of a supply, by place in the dictionary. */
static inline struct plan *supply_plans(struct supply *supply)
{
    return (struct plan *)(supply + 1);
}

/* Return the operations of a supply without their bursts, by place in the dictionary. */
static inline struct op *supply_shapes(const struct app *app, struct supply *supply)
{
    return (struct op *)((char *)supply + app->shapes);
}

/* supply_init is false: no memory. supply_next_new: where that is not only a burst of a known operation. */
bool supply_init(struct sim *sim, struct app *app);
void supply_open(struct sim *sim, struct thread *thread);
int64_t supply_next_new(struct sim *sim, struct thread *thread);

/* Take the next operation of the thread, if there is any; returns its burst. */
static inline int64_t supply_next(struct sim *sim, struct thread *thread)
{
    struct op *shapes = supply_shapes(thread->app, thread->supply);
    bool known = thread->to_come && thread->stop - thread->at >= PACK_MOST && *thread->at < thread->app->places;
    if (!known) return supply_next_new(sim, thread);
    int64_t burst;
    unsigned place = unpack_place(shapes, &thread->at, &burst);
    thread->to_come--;
    thread->op = &shapes[place];
    thread->plan = &supply_plans(thread->supply)[place];
    return burst;
}

/* Return the sending of the thread's operation, which must send. */
static inline struct sending *thread_sending(const struct thread *thread)
{
    struct sending *sendings = (struct sending *)((char *)thread->supply + thread->app->sendings);
    return &sendings[thread->plan - supply_plans(thread->supply)];
}

#endif
