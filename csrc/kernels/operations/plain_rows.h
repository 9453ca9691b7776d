#ifndef PLAIN_ROWS_H
#define PLAIN_ROWS_H

#include "operations/thread_rows.h"

struct lane;

/* Return 1 if the rows say everything about their operations: calls and polls name no procedure that is marked in
   `marked` (by its index in Trace.procedures), and no persistent collective was started, whose bytes the calls
   around it tell. Else return 0. */
int32_t rows_are_plain(const struct lane *lane, const struct thread_rows *rows, const uint8_t *marked);

/* Return when the first of the requests was posted (ns); INT64_MAX: there is none. */
int64_t rows_posted_from(const struct lane *lane, const struct thread_rows *rows);

#endif
