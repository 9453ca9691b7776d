/* Arguments that must be kept, or replaced, before a call on requests is made.
 *
 * Called by the thread that makes the call, inside of its gate, before or right after it. What is returned belongs to
 * this thread and stays valid until its next call. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include "calls/data_bytes.h"
#include "handles/requests.h"
#include "record/thread.h"

/* Copy the n handles of an array: completion nulls the program's. Marks them as held (requests_hold). NULL: no memory,
 * so that none of the requests is followed. */
const struct held_request *save_handles(struct thread *t, word array, int n, enum language language);

/* Give room for n statuses: the program's, or ours if the program ignores them. If there is no memory for ours, the
 * program's choice is returned and `*handles` becomes NULL. */
void *status_buffer(struct thread *t, word user, bool ignored, int n, const struct held_request **handles);

/* Tell where the indices begin that a Fortran call on n requests has returned, 0 or 1. `array` has the handles after
 * the call, `handles` those of before. Any thread may call it. */
enum index_call { INDEX_ANY, INDEX_SOME };
int index_base(enum index_call call, word array, const struct held_request *handles, int n, int index);

#endif
