/* Candidates of a lane in order of completion. */
#ifndef WAIT_QUEUE_H
#define WAIT_QUEUE_H

#include "waits/internal/wait_search.h"

void waits_push(struct waits *w, struct lane *lane, const struct wait_candidate *c);
struct wait_candidate waits_pop(struct waits *w, struct lane *lane);

#endif
