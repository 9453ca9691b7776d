/* Sums over all threads of the process, with the rows that wait in their buffers. */
#ifndef TOTALS_H
#define TOTALS_H

#include "record/threads.h"

/* Add up all threads, also those that have ended; zeros if the store's lock cannot be had.
 * Context: any thread, not between store_begin and store_end (it takes that lock). */
struct totals threads_totals(void);

#endif
