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

/* The program uses the API of tracelib.h: then it is recorded, whether or not it ever comes to MPI_Init. The file is
 * created at once, unless MPI_Init may be on its way. */
void run_wanted(void);

/* Rows are about to be written: create the file of a program that is wanted and has not come to MPI_Init. If it does
 * later, the file becomes that of its rank. */
void run_need_file(void);

/* MPI_Init has returned: agree on the output, create the rank file. */
void run_started(void);

/* MPI_Session_init has returned. It may be called by some ranks only, and so without a message to the others this one
 * creates its file, if it has none. */
void run_session_opened(word session);

/* A communicator was made from a group. If it has all ranks, they can do now what they do together in MPI_Init. */
void run_session_joined(word comm);

/* MPI_Session_finalize has been entered; it has returned and is recorded. */
void run_session_closing(word session);
void run_session_closed(void);

/* MPI_Finalize has been entered: the last moment to ask the other ranks. */
void run_finalizing(void);

/* MPI_Finalize has returned and is recorded. */
void run_finalized(void);

/* MPI_Abort has been entered. */
void run_aborting(void);

bool run_is_recording(void); /* between MPI_Init (or MPI_Session_init) and MPI_Finalize */
bool run_is_closed(void);
uint64_t run_buffer_bytes(void);
int run_rank(void);

/* The rank file; NULL before MPI_Init and when there is none. Only between store_begin and store_end. */
struct store *run_store(void);
const char *run_store_path(void);
int run_store_error(void);
int run_store_clock(void);
void run_store_failed(int error);

#endif
