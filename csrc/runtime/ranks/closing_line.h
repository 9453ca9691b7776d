/* The closing line. */
#ifndef CLOSING_LINE_H
#define CLOSING_LINE_H

#include "record/store.h"

/* All ranks, while MPI still works: what the line of rank 0 will say. Is the call that is being made `recorded`? Has
 * writing `failed`, so that it is lost? */
void closing_line_gather(int rank, int size, uint64_t file_bytes, bool recorded, bool failed);

/* "tracelib: 4 ranks, 72864 calls, 6.6 MB in run.h5; next: analyze run.h5" */
void closing_line_say(int size, const char *stem);

/* The same where no rank can ask the others. */
void closing_line_say_rank(const struct store *store, int size, const char *stem);

/* The same of a program without MPI. */
void closing_line_say_alone(const struct store *store, const char *stem);

#endif
