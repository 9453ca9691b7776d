/* The closing line. */
#ifndef CLOSING_LINE_H
#define CLOSING_LINE_H

#include "record/store.h"

/* Add up on rank 0 what its closing line will say. `recorded`: the call that is being made will be recorded; `failed`:
 * writing has failed, so that it will be lost.
 * Context: collective over all ranks, in MPI_Finalize, not between store_begin and store_end. */
void closing_line_gather(int rank, int size, uint64_t file_bytes, bool recorded, bool failed);

/* Print, on rank 0: "tracelib: 4 ranks, 72864 calls, 6.6 MB in run.h5; next: analyze run.h5"
 * Context: after closing_line_gather. */
void closing_line_say(int size, const char *stem);

/* Print the closing line of one rank, where no rank can ask the others.
 * Context: as the process ends. */
void closing_line_say_rank(const struct store *store, int size, const char *stem);

/* Print the closing line of a program without MPI.
 * Context: as the process ends. */
void closing_line_say_alone(const struct store *store, const char *stem);

#endif
