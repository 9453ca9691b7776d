/* Programs that use MPI through sessions, with MPI_Init or without. */
#ifndef SESSION_H
#define SESSION_H

#include "mpi/abi.h"

/* MPI_Session_init has returned. It may be called by some ranks only, and so without a message to the others this one
 * creates its file, if it has none. */
void run_session_opened(word session);

/* A communicator was made from a group. If it has all ranks, they can do now what they do together in MPI_Init. */
void run_session_joined(word comm);

/* MPI_Session_finalize has been entered; it has returned and is recorded. */
void run_session_closing(word session);
void run_session_closed(void);

#endif
