/* The life of a traced run in one process: started at MPI_Init, closed at MPI_Finalize or exit (record/phase.h).
 *
 * Context: the thread that makes the call of MPI, not between store_begin and store_end: these take that lock. */
#ifndef RUN_H
#define RUN_H

#include <stdbool.h>
#include <stdint.h>

/* Recognise the MPI library, at the first call of MPI. An unknown one ends the recording.
 * Context: any thread: once, the others wait (pthread_once). */
void run_meet_mpi(void);

/* Start the run when MPI_Init has returned: agree on the output, create the rank file. Collective over all ranks. */
void run_started(void);

/* Do what needs the other ranks, when MPI_Finalize has been entered: the last moment for it. Collective. Returns the
 * time (ticks) of the entry. */
uint64_t run_finalizing(void);

/* Close the run when MPI_Finalize has returned and is recorded. */
void run_finalized(void);

/* Close the run when MPI_Abort has been entered and is recorded (aborting.h). */
void run_aborting(void);

/* Write, as the process ends, what came after MPI_Finalize, or all that is left of a program that never called it.
 * `last`:
 * this comes after the destructors of all other libraries, which may still call MPI before it. */
void run_leave(bool last);

#endif
