/* The run's name, and the file of this rank: made once, and moved where MPI_Init says. Between store_begin and
 * store_end, where nothing else is said. */
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

/* The first name that is free; `by_job`: that which the other ranks of the job choose, too. False: there is no place to
 * write, which is said. Also elsewhere. */
bool opening_reserve(bool by_job);

/* The file of this rank under the run's name. */
void opening_create(void);

/* The same where MPI is known; a file that lies in a run of its own, `own`, becomes that of this rank. */
void opening_with_mpi(const char *own);

#endif
