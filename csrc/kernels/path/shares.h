#ifndef SHARES_H
#define SHARES_H

#include <stdint.h>

#include "path/path.h"

/* The slack of bursts that have a length (ns): how long they are, how long those without any are, the least of any
   (INT64_MAX: there is none), and the sum of length x slack. */
struct slack_sum {
    int64_t computing, none, least;
    double weighted;
};

/* Sums by function, a number: ns on the path and in all, and the slack of what is computed. of_call[call] is that of a
   node (call may be negative); what is computed in region r has r + 1. */
struct share_sums {
    const int32_t *of_call;
    int64_t tracer, launch;
    int64_t *on_path, *in_all;
    struct slack_sum *slack;
};

/* A thread whose nodes are added up piece by piece. */
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

/* Add the next n nodes. A poll has the slack of the wait that it belongs to. */
void shares_add(struct share_sums *sums, struct share_thread *thread, const struct node *nodes, int64_t n);

#endif
