/* The run's name, and the file of this rank: made once, and moved where MPI_Init says.
 *
 * Context: between store_begin and store_end, where nothing else is said. */
#ifndef OPENING_H
#define OPENING_H

#include <limits.h>
#include <stdbool.h>

struct run {
    bool first; /* of the ranks: it writes run.h5 */
    int size, thread_level;
    char stem[PATH_MAX]; /* of the result; "": it has no name yet */
};
extern struct run run;

/* Reserve the first free name; `by_job`: the name that the other ranks of the job choose, too. Returns false if there
 * is no place to write, which is reported. Context: also without that lock. */
bool opening_reserve(bool by_job);

/* Create the file of this rank under the run's name. */
void opening_create(void);

/* Create the file where MPI is known. A file that lies in a run of its own, `own`, becomes that of this rank. */
void opening_with_mpi(const char *own);

#endif
