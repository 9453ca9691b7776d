/* Procedures that this MPI lacks although the library defines their symbols.
 *
 * names.h hides such names. Where the dynamic linker keeps the table of symbols to itself, a program may still test for
 * one (a weak reference, as mpi4py does) and take our wrapper for a sign that its MPI has the procedure. Where it can
 * be expressed by what the MPI does have, it is. */
#ifndef MISSING_H
#define MISSING_H

#include "mpi/abi.h"

typedef word (*function)(); /* arguments are words, as many as the procedure has */

/* A stand-in for the procedure with this profiling name ("PMPI_Status_get_tag"); NULL: there is none. */
function missing_stand_in(const char *name);

#endif
