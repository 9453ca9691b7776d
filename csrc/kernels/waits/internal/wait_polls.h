/* Keeps failing polls until the operation for which they waited completes. */
#ifndef WAIT_POLLS_H
#define WAIT_POLLS_H

#include "waits/internal/wait_search.h"

/* Add a failing poll. Above `most_polls` runs, neighbours are joined. If there is no memory, the search has failed. */
void polls_add(struct waits *w, struct polls *list, const struct judged *call);

/* End the first n runs of polls: all of them if `all`, else those that may have waited for the candidate that holds
   `call`. Without a candidate they waited for nothing that is known. Returns true if there were waits. */
int polls_settle(struct waits *w, struct polls *list, int64_t n, const struct judged *call, int all);

#endif
