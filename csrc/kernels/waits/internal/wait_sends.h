/* Finds the call that completes a send, if it is not the call that sent. */
#ifndef WAIT_SENDS_H
#define WAIT_SENDS_H

#include "waits/internal/wait_search.h"

/* Sort the sends of a window, all of lanes [first, stop), by lane. Returns -1 if there is no memory. */
int waits_sort_sent(struct waits *w, const struct wait_candidate *c, int64_t n, int64_t first, int64_t stop);

/* Take n requests (struct trace_request) that a rank completed in the window of the calls that follow. first: its
   first lane. */
void waits_done(struct waits *w, const void *requests, int64_t n, int32_t first, int32_t threads);

/* Take the messages that the lane's call sends. */
void waits_take_sent(struct waits *w, struct lane *lane);

#endif
