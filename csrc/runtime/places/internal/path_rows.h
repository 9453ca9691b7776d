/* The tables `paths`, `modules` and `functions` of the rank file. All of it under the lock of places.c. */
#ifndef PATH_ROWS_H
#define PATH_ROWS_H

#include <stdint.h>

#include "schema.h"

struct store;

/* The row of a path: a place and the row of its caller's path. 0: there are too many, or no memory. */
uint32_t path_row(uint32_t parent, uint32_t module, uint64_t offset);

/* The row of a function; 0 likewise. */
uint32_t function_row(const struct file_function *function);

uint32_t path_rows_count(void);

/* Write those that the file has not. Between store_begin and store_end. 0 or errno. */
int path_rows_write(struct store *store);

#endif
