/* The life of a traced run in one process: started at MPI_Init, closed at MPI_Finalize or exit (record/phase.h). */
#ifndef RUN_H
#define RUN_H

#include <stdbool.h>
#include <stdint.h>

/* The first call of MPI: recognise the library. An unknown one ends the recording. */
void run_meet_mpi(void);

/* MPI_Init has returned: agree on the output, create the rank file. */
void run_started(void);

/* MPI_Finalize has been entered, at the time (ticks) that is returned: the last moment to ask the other ranks. */
uint64_t run_finalizing(void);

/* MPI_Finalize has returned and is recorded. */
void run_finalized(void);

/* MPI_Abort has been entered and is recorded (aborting.h). */
void run_aborting(void);

/* The process ends: write what came after MPI_Finalize, or all that is left of a program that never called it. */
void run_leave(bool last);

#endif
