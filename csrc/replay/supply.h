#ifndef SUPPLY_H
#define SUPPLY_H
/* Where a stream's operations come from: their packed form, in memory or in a file. */

#include "sim.h"
#include "unpack.h"

/* Of a stream. Its operations repeat a few, of which it has the plans; behind it is the buffer. */
struct supply {
    struct plan plans[PACK_PLACES];
    const uint8_t *at, *stop;  /* in the buffer: what is not unpacked yet */
    int64_t to_come, position; /* operations; where what comes after the buffer stands */
    struct op shapes[PACK_PLACES];
};

bool supply_init(struct app *app); /* false: no memory */
void supply_open(struct sim *sim, struct thread *thread);
int64_t supply_next(struct sim *sim, struct thread *thread);

#endif
