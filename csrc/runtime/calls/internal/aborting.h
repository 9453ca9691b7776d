/* MPI_Abort, which does not return: what is to be known of it is in the file before it acts. */
#ifndef ABORTING_H
#define ABORTING_H

#include "mpi/abi.h"
#include "record/thread.h"

/* MPI_Abort was entered. `recorded`: its row goes into the thread's buffer; else it is called out of another call
 * (by an error handler), or by a thread that is not recorded. Waits a second at most for other threads, which may be
 * inside of MPI while they hold the file: then buffers stay where a kill leaves them. */
void aborting_begin(struct thread *t, bool recorded, uint16_t call, int code, word comm);

/* It came back: the program goes on. */
void aborting_end(void);

#endif
