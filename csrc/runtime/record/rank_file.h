/* The file of this rank. The run makes and ends it; everybody else writes to what rank_file_store gives. */
#ifndef RANK_FILE_H
#define RANK_FILE_H

#include <limits.h>

#include "record/store.h"

/* Between store_begin and store_end, but for `rank`. */
struct rank_file {
    struct store store; /* without a file: fd -1 */
    char path[PATH_MAX];
    int rank;  /* 0 until MPI says it */
    int error; /* the first in writing: nothing more is written */
};
extern struct rank_file rank_file;

/* NULL: there is no file, or it cannot be written. */
struct store *rank_file_store(void);

/* Why it is NULL. */
int rank_file_error(void);

/* Rows could not be written, which is said the first time. */
void rank_file_failed(int error);

/* Append a pair of clocks. 0 or errno. */
int rank_file_clock(void);

/* Rows are about to be written: the file of a program that does without MPI is created. A call upwards: only who
 * flushes a buffer knows that the file is needed now, only the run what makes one. Not between store_begin and
 * store_end.
 */
void rank_file_demand(void);

/* What that calls from now on; NULL: nothing. */
void rank_file_on_demand(void (*create)(void));

#endif
