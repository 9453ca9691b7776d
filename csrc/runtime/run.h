/* The life of a traced run in one process: prepared, started at MPI_Init, closed at MPI_Finalize or exit. */
#ifndef RUN_H
#define RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "store.h"

/* Before the first record: read the environment. False: this process is not traced. */
bool run_prepare(void);

/* The first call of MPI: recognise the library. An unknown one ends the recording. */
void run_meet_mpi(void);

/* MPI_Init has returned: agree on the output, create the rank file. */
void run_started(void);

/* MPI_Finalize has been entered: the last moment to ask the other ranks. */
void run_finalizing(void);

/* MPI_Finalize has returned and is recorded. */
void run_finalized(void);

/* MPI_Abort has been entered. */
void run_aborting(void);

bool run_is_recording(void); /* between MPI_Init and MPI_Finalize */
bool run_is_closed(void);
uint64_t run_buffer_bytes(void);
int run_rank(void);

/* The rank file; NULL before MPI_Init and when there is none. Only between store_begin and store_end. */
struct store *run_store(void);
int run_store_error(void);
int run_store_clock(void);
void run_store_failed(int error);

#endif
