/* Failing polls. */
#ifndef WAIT_POLLS_H
#define WAIT_POLLS_H

#include "waits/internal/wait_search.h"

void polls_add(struct waits *w, struct polls *list, const struct judged *call);

/* The first n runs of polls, or those of them that `by` can have been waited for in, are over; by NULL: for nothing
   that is known. Returns whether there were waits. */
int polls_settle(struct waits *w, struct polls *list, int64_t n, const struct judged *call, int all);

#endif
