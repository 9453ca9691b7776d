/* Sends that another call completes. */
#ifndef WAIT_SENDS_H
#define WAIT_SENDS_H

#include "waits/internal/wait_search.h"

/* Put the sends of a window, which are those of lanes [first, stop), in order of their lanes; -1: no memory. */
int waits_sort_sent(struct waits *w, const struct wait_candidate *c, int64_t n, int64_t first, int64_t stop);

/* What a rank completed in the window of the calls that follow (struct trace_request), its lanes from `first` on. */
void waits_done(struct waits *w, const void *requests, int64_t n, int32_t first, int32_t threads);

/* The messages that the lane's call sends. */
void waits_take_sent(struct waits *w, struct lane *lane);

#endif
