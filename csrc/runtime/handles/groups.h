/* The groups of MPI_Win_start and MPI_Win_post: from a handle, which is reused, to a row of `communicators`. */
#ifndef GROUPS_H
#define GROUPS_H

#include <stdint.h>

#include "mpi/abi.h"

/* The row with the members of a group, the same one for all groups that have them in this order; COMM_INDEX_NONE: not
   known. A group is looked at once, until groups_forget. */
uint32_t groups_row(word group);

/* The group is about to be freed: its handle may soon stand for another one. */
void groups_forget(word group);

#endif
