/* The MPI library behind us: where its functions and data are. */
#ifndef RESOLVE_H
#define RESOLVE_H

#include <stdbool.h>

/* Has this process loaded MPI, or has a launcher of MPI programs started it? Then it may come to MPI_Init. */
bool resolve_mpi_expected(void);

/* A function of the MPI library, also where it was loaded RTLD_LOCAL (mpi4py); NULL if it has none. */
void *resolve_symbol(const char *name);

/* Where that function is: the library's path as it was loaded; NULL if there is none. */
const char *resolve_library(const char *name);

/* Is this the first process that a launcher of MPI programs has started, or was none needed? It speaks for all. */
bool resolve_speaks(void);

/* A data symbol: the program's copy, if it has one, is the one that counts (copy relocations). */
void *resolve_data(const char *name);

#endif
