/* The life of a traced run in one process: one phase at a time, which any thread may ask for without a lock. */
#ifndef PHASE_H
#define PHASE_H

#include <stdbool.h>

enum phase {
    PHASE_UNTRACED, /* not prepared yet; or never to be: switched off, or the child of a fork */
    PHASE_PREPARED, /* calls are recorded; the file that they go to comes with MPI_Init */
    PHASE_ALONE,    /* recording into a file of its own, without MPI so far */
    PHASE_SESSIONS, /* MPI_Session_init has returned, and not MPI_Init */
    PHASE_WORLD,    /* MPI_Init has returned */
    PHASE_CLOSED,   /* MPI_Finalize or exit: what comes now is written at once */
    PHASE_REFUSED,  /* the end without a result: an MPI that is not known, no place to write */
};

enum phase phase_now(void);

/* The same, but of a closed run the phase that it was closed in. */
enum phase phase_reached(void);

/* All changes. The order above is kept, whichever of several threads comes first; only a fork goes back. */
void phase_enter(enum phase next);

/* The process is traced: it may still record. */
static inline bool phase_is_traced(void)
{
    enum phase now = phase_now();
    return now != PHASE_UNTRACED && now != PHASE_REFUSED;
}

/* Between MPI_Init (or MPI_Session_init) and MPI_Finalize. */
static inline bool phase_is_recording(void)
{
    enum phase now = phase_now();
    return now == PHASE_SESSIONS || now == PHASE_WORLD;
}

static inline bool phase_is_closed(void)
{
    return phase_now() >= PHASE_CLOSED;
}

#endif
