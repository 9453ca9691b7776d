/* The file of this rank. The run creates and closes it; all others write to what rank_file_store returns.
 *
 * Context: between store_begin and store_end, where nothing else is said. */
#ifndef RANK_FILE_H
#define RANK_FILE_H

#include <limits.h>

#include "record/store.h"

/* The lock of the store guards all of it but `rank`. */
struct rank_file {
    struct store store; /* without a file: fd -1 */
    char path[PATH_MAX];
    int rank;  /* 0 until MPI says it */
    int error; /* the first in writing: nothing more is written */
};
extern struct rank_file rank_file;

/* Return the store, after a look whether it is still our file. NULL: there is no file, or it cannot be written. */
struct store *rank_file_store(void);

/* Return why rank_file_store is NULL: errno. */
int rank_file_error(void);

/* Note that rows could not be written. The first error is printed, and nothing more is written after it. */
void rank_file_failed(int error);

/* Append a pair of clocks (ticks, CLOCK_MONOTONIC). Returns 0 or errno. */
int rank_file_clock(void);

/* Create the file of a program without MPI, now that rows are about to be written. A call upwards, by a pointer: only
 * the code that flushes a buffer knows that the file is needed, and only the run knows how to make one.
 * Context: any thread, not between store_begin and store_end (it takes that lock). */
void rank_file_demand(void);

/* Set the function that rank_file_demand calls from now on; NULL: nothing.
 * Context: any thread, no lock (release; rank_file_demand reads with acquire). */
void rank_file_on_demand(void (*create)(void));

#endif
