/* What the ranks find out together, in MPI_Init or where a session first has them all. Collective over `all_ranks`. */
#ifndef AGREE_H
#define AGREE_H

#include <limits.h>

#include "mpi/abi.h"

/* Rank 0 says where the run's files go (`stem`; empty: there is no place to write). True: this is the first meeting,
 * and agree_measure comes next. */
bool agree_on_name(int rank, char stem[PATH_MAX]);

/* Clocks, samplers, counters, and the tracer's own cost in a communicator that the program knows. */
void agree_measure(const char *stem, int rank, int size, word comm);

/* Clocks alone, as the run ends. */
void agree_clocks(int rank, int size);

#endif
