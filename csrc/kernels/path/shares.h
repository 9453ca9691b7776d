#ifndef SHARES_H
#define SHARES_H

#include <stdint.h>

#include "path/path.h"

/* The slack of bursts that have a length. All in ns: length of all bursts, length of bursts without slack, least
   slack of any (INT64_MAX: there is none), and the sum of length x slack (ns^2). */
struct slack_sum {
    int64_t computing, none, least;
    double weighted;
};

/* Sums by function, which is a number: ns on the path and in all, and the slack of its computation. of_call[call] is
   the function of a node (call may be negative); computation in region r has the function r + 1. */
struct share_sums {
    const int32_t *of_call;
    int64_t tracer, launch;
    int64_t *on_path, *in_all;
    struct slack_sum *slack;
};

/* State of a thread whose nodes are added piece by piece. */
struct share_thread {
    const struct path_segment *stays; /* of the path on it, in order of time */
    int64_t n_stays;
    int64_t begin, held;    /* when it begins; then when the last node was over, and until when the tracer has it */
    const struct node *own; /* the nodes that have a slack, and their slack */
    const int64_t *slack;
    int64_t n_own, polls;            /* polls: what is added are not these, but each poll by itself */
    struct slack_sum *rank;          /* sums of its rank */
    int64_t is_on, at, stay, before; /* from 0 on: whether a node was looked at, which one, how many stays, and ns of
                                        the path before the last of these */
};

/* Add the next n nodes of a thread to the sums. A poll has the slack of the wait to which it belongs. */
void shares_add(struct share_sums *sums, struct share_thread *thread, const struct node *nodes, int64_t n);

#endif
