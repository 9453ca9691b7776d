/* MPI 4 sessions: which are open, and what they say of all processes without asking these. */
#ifndef SESSIONS_H
#define SESSIONS_H

#include "mpi/abi.h"

/* MPI_Session_init has returned this one; MPI_Session_finalize is about to end it. */
void sessions_opened(word session);
void sessions_closing(word session);
bool sessions_are_open(void);

/* The group of all processes, mpi://WORLD, of one of the open sessions; the caller frees it. False: none is open. */
bool sessions_world(word *group);

/* This process and the number of all. False: no session is open. */
bool sessions_place(int *rank, int *size);

/* Collective over all processes: a communicator of the library's own. False: MPI has refused. */
bool sessions_join(word *comm);

#endif
