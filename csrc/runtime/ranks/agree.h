/* Facts that the ranks find out together, in MPI_Init or where a session first has them all.
 *
 * Context: collective over `all_ranks`, in the thread that makes the call of MPI, not between store_begin and
 * store_end. */
#ifndef AGREE_H
#define AGREE_H

#include <limits.h>

#include "mpi/abi.h"

/* Learn from rank 0 where the run's files go (`stem`; empty: there is no place to write). Returns true if this is the
 * first time: then agree_measure comes next. */
bool agree_on_name(int rank, char stem[PATH_MAX]);

/* Measure clocks, start the samplers of nodes, decide on counters, and measure the tracer's own cost in `comm`, a
 * communicator that the program knows. */
void agree_measure(const char *stem, int rank, int size, word comm);

/* Measure the clocks alone, as the run ends. */
void agree_clocks(int rank, int size);

#endif
