/* The MPI library behind us: where its functions and data are. */
#ifndef RESOLVE_H
#define RESOLVE_H

#include <stdbool.h>

/* Has this process loaded MPI, or has a launcher of MPI programs started it? Then it may come to MPI_Init. */
bool resolve_mpi_expected(void);

/* A function of the MPI library, also where it was loaded RTLD_LOCAL (mpi4py); NULL if it has none. */
void *resolve_symbol(const char *name);

/* A data symbol: the program's copy, if it has one, is the one that counts (copy relocations). */
void *resolve_data(const char *name);

#endif
