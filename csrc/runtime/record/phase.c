#include "record/phase.h"

#include <stdint.h>

/* One word, so that it changes as a whole. */
struct life {
    _Alignas(4) uint16_t now;
    uint16_t reached;
};
static struct life life;

static struct life read_life(void)
{
    struct life l;
    __atomic_load(&life, &l, __ATOMIC_ACQUIRE);
    return l;
}

enum phase phase_now(void)
{
    return read_life().now;
}

enum phase phase_reached(void)
{
    return read_life().reached;
}

/* A closed run stays closed, also when MPI_Init comes after that (MPI_Abort may return). */
static struct life changed(struct life l, enum phase next)
{
    if (next == PHASE_UNTRACED) return (struct life){PHASE_UNTRACED, PHASE_UNTRACED};
    if (next < PHASE_CLOSED && next > l.reached) l.reached = (uint16_t)next;
    if (next > l.now) l.now = (uint16_t)next;
    return l;
}

void phase_enter(enum phase next)
{
    struct life before = read_life(), after;
    do after = changed(before, next);
    while (!__atomic_compare_exchange(&life, &before, &after, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
}
