/* Keeps the candidates of a lane in order of completion. */
#ifndef WAIT_QUEUE_H
#define WAIT_QUEUE_H

#include "waits/internal/wait_search.h"

/* Add a copy of a candidate. If there is no memory, the search has failed. */
void waits_push(struct waits *w, struct lane *lane, const struct wait_candidate *c);

/* Remove and return the candidate that completes first. There must be one. */
struct wait_candidate waits_pop(struct waits *w, struct lane *lane);

#endif
