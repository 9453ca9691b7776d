/* Which MPI this process has loaded, by positive evidence: one that is not known is not taken for another. */
#ifndef DETECT_H
#define DETECT_H

#include <stdbool.h>

enum { UNKNOWN_MPI_ROOM = 512 };

/* Fill in `abi`, by the name of the library and by symbols that the mpi.h of each family refers to, so that whatever is
 * compatible with it has them, too. False: `why` says what was found instead, and `abi` stays that of no MPI. */
bool detect_mpi(char why[UNKNOWN_MPI_ROOM]);

/* After MPI_Init: does the MPI write a status as the table has it? It can only be asked then. */
bool detect_confirms(char why[UNKNOWN_MPI_ROOM]);

#endif
