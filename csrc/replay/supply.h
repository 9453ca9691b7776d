#ifndef SUPPLY_H
#define SUPPLY_H
/* Where a stream's operations come from: an array, or their packed form in memory or in a file. Of packed ones the one
   under way stands in the dictionary of the stream, `shapes`; `end` is behind that. */

#include "sim.h"
#include "unpack.h"

bool supply_init(struct app *app); /* false: no memory */
void supply_open(struct sim *sim, struct thread *thread);
void supply_more(struct sim *sim, struct thread *thread);

/* The operation after the present one, or `end`. */
static inline void supply_next(struct sim *sim, struct thread *thread)
{
    if (!thread->shapes) {
        thread->op++;
        return;
    }
    if (thread->packed_end - thread->packed < PACK_MOST) supply_more(sim, thread);
    thread->op = thread->to_come-- > 0 ? unpack_next(thread->shapes, &thread->packed) : thread->end;
}

#endif
