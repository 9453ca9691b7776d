/* The process's threads as the kernel sees them: rows of the table `tasks`. */
#ifndef TASKS_TABLE_H
#define TASKS_TABLE_H

#include "record/store.h"

/* Append a row for each thread of the program that exists now. Returns 0 or errno.
 * Context: between store_begin and store_end. */
int tasks_write(struct store *store);

#endif
