/* The mapped buffer of one thread: a node-local file whose contents survive the death of the process.
 *
 * Context: between store_begin and store_end. */
#ifndef SPOOL_H
#define SPOOL_H

#include <stdint.h>

#include "schema.h"

/* Map a new spool of `bytes` for a thread; all counts of rows are 0.
 * Falls back from TRACELIB_SPOOL or /dev/shm to TMPDIR or /tmp, then to anonymous memory (said once). NULL: no memory.
 */
struct spool_header *spool_create(uint32_t thread, uint64_t bytes);

/* Give all spools, present and future, their names: a rank file is about to refer to them. Where the file system allows
 * it they have none before, so that a process killed earlier leaves nothing behind. */
void spool_show_all(void);

/* Remove the spool's file; the mapping stays usable until spool_unmap. */
void spool_remove(uint32_t thread);

/* Unmap a spool of `bytes`. */
void spool_unmap(struct spool_header *spool, uint64_t bytes);

/* Return the path of spools without the thread's number; "" while there is no file behind them. */
const char *spool_prefix(void);

#endif
