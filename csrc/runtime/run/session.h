/* Programs that use MPI through sessions, with MPI_Init or without.
 *
 * Context: the thread that makes the call of MPI, not between store_begin and store_end. */
#ifndef SESSION_H
#define SESSION_H

#include "mpi/abi.h"

/* Create this rank's file, if it has none, when MPI_Session_init has returned. Some ranks only may call that, so no
 * message is sent to the others. */
void run_session_opened(word session);

/* Do what the ranks do together in MPI_Init, when a communicator was made from a group and has all ranks. Collective
 * over that communicator. */
void run_session_joined(word comm);

/* Note that MPI_Session_finalize has been entered. */
void run_session_closing(word session);

/* Write what is buffered, and the state, if the last open session was finalized and the call is recorded. */
void run_session_closed(void);

#endif
