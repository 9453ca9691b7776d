/* The phase of a traced run in one process.
 *
 * Context: any thread, signal handlers, no lock. The phase is one atomic word, read with acquire and changed by
 * compare-and-exchange: who sees a phase sees what was written before it was entered. */
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

/* Return the present phase. */
enum phase phase_now(void);

/* Return the present phase, or for a closed run the phase in which it was closed. */
enum phase phase_reached(void);

/* Enter a phase. A phase never goes back in the order above, whichever of several threads comes first; only a fork
 * (PHASE_UNTRACED) does. */
void phase_enter(enum phase next);

/* True if the process is traced: it may still record. */
static inline bool phase_is_traced(void)
{
    enum phase now = phase_now();
    return now != PHASE_UNTRACED && now != PHASE_REFUSED;
}

/* True between MPI_Init (or MPI_Session_init) and MPI_Finalize. */
static inline bool phase_is_recording(void)
{
    enum phase now = phase_now();
    return now == PHASE_SESSIONS || now == PHASE_WORLD;
}

/* True if the run is closed or was refused. */
static inline bool phase_is_closed(void)
{
    return phase_now() >= PHASE_CLOSED;
}

#endif
