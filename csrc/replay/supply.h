#ifndef SUPPLY_H
#define SUPPLY_H
/* Where a stream's operations come from: an array, or their packed form in memory or in a file. */

#include "sim.h"
#include "unpack.h"

enum { AT_ONCE = 16 }; /* operations unpacked: the state of thousands of streams is to stay in the cache */

/* Of a stream of packed operations; behind it is the buffer. */
struct supply {
    struct op unpacked[AT_ONCE];
    const uint8_t *at, *stop;  /* in the buffer: what is not unpacked yet */
    int64_t to_come, position; /* operations; where what comes after the buffer stands */
    struct op shapes[PACK_PLACES];
};

bool supply_init(struct app *app); /* false: no memory */
void supply_open(struct sim *sim, struct thread *thread);
void supply_more(struct sim *sim, struct thread *thread);

#endif
