/* Sends that another call completes. */
#ifndef WAIT_SENDS_H
#define WAIT_SENDS_H

#include "waits/internal/waiting.h"

/* Put the sends of a window in order of their lanes; -1: no memory. */
int waits_sort_sent(struct waits *w, const struct wait_candidate *c, int64_t n);

/* The messages that the lane's call sends. */
void waits_take_sent(struct waits *w, struct lane *lane);

#endif
