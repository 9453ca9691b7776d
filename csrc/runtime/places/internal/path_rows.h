/* The tables `paths`, `modules` and `functions` of the rank file.
 *
 * Context: under the lock of places.c. */
#ifndef PATH_ROWS_H
#define PATH_ROWS_H

#include <stdint.h>

#include "schema.h"

struct store;

/* Return the row of a path, a place and the row of its caller's path; a new one is added. 0 if there are too many, or
 * no memory. */
uint32_t path_row(uint32_t parent, uint32_t module, uint64_t offset);

/* Return the row of a function; a new one is added. 0 as path_row. */
uint32_t function_row(const struct file_function *function);

/* Return the number of rows of paths. */
uint32_t path_rows_count(void);

/* Write the rows that the file does not have. Returns 0 or errno.
 * Context: under that lock, between store_begin and store_end. */
int path_rows_write(struct store *store);

#endif
