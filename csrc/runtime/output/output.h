/* Where a run's files go: NAME.h5 and NAME.ranks/, under a name that destroys no earlier result.
 *
 * Context: one thread at a time: where the run's name is chosen or its file made. No lock is taken. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Rank 0: reserve the first free of NAME, NAME-2, ... by creating NAME.ranks. `stem` is the absolute path
 * without ".h5". Returns 0 or errno; `wanted` is NULL or the user's TRACELIB_OUTPUT. */
int output_reserve(const char *wanted, char stem[PATH_MAX]);

/* Reserve a name without rank 0, and without a message: the first process of a job (job.h) that comes reserves it and
 * writes into NAME.ranks/job for whom. The others find it there, if their rank has no file there yet. `*first`: this
 * process came first, and writes NAME.h5. */
int output_join(const char *wanted, const char *job, int rank, char stem[PATH_MAX], bool *first);

/* Write the path of a rank's file; create the directory where this rank's node does not share rank 0's file system.
 * Returns 0 or errno. */
int output_rank_path(const char *stem, int rank, char path[PATH_MAX]);

/* Give a reserved name back: remove NAME.h5, and NAME.ranks, which must be empty. */
void output_release(const char *stem);

/* Write NAME.h5, which links the rank files, on rank 0. Returns 0 or errno. */
int output_write_links(const char *stem, int size, int64_t realtime_ns);

#endif
