/* Calls that make, name, find and free communicators. Contract: frame.h. */
#ifndef COMMUNICATORS_H
#define COMMUNICATORS_H

#include "calls/frame.h"

/* `newcomm` was made out of `comm`; it may be the null communicator. */
void record_comm_created(const struct frame *f, word comm, word newcomm);

/* The same with processes of another world (MPI_Comm_accept, _connect, _spawn, _join). */
void record_comm_connected(const struct frame *f, word comm, word newcomm);

/* MPI_Comm_set_name; `name` needs no end, and Fortran's blanks at its end are left out. */
void record_comm_name(const struct frame *f, word comm, const char *name, size_t length);

/* The program asked for a communicator that it did not make (MPI_Comm_get_parent). */
void record_comm_found(const struct frame *f, word newcomm);

/* MPI_Comm_idup: `newcomm` is the address where the handle will be, in the program's language, once the request is
 * complete. */
void record_comm_idup(const struct frame *f, word comm, const void *newcomm, bool fortran, word request);

/* `index`: the communicator's row, asked for before the call. */
void record_comm_free(const struct frame *f, uint32_t index, word comm);

#endif
