#ifndef CLUSTER_H
#define CLUSTER_H

#include <stdint.h>

/* Batch jobs on a cluster of equal nodes, by the clock. analyzer/jobs/cluster.py says what each policy does. */
enum {
    CLUSTER_FCFS,
    CLUSTER_FIRST_FIT,
    CLUSTER_BACKFILL_FIRST_FIT,
    CLUSTER_BACKFILL_PREDICTIVE,
    CLUSTER_EASY,
    CLUSTER_POLICIES
};

struct cluster;

/* n jobs in order of submission; times in any unit, their sum below 2^62. width: nodes of each, 1 to `nodes`; estimate:
   what the scheduler knows, above 0; run: 0 or more, what is beyond the estimate is cut off. start: (n), is written.
   The arrays must stay. NULL: no memory. */
struct cluster *cluster_new(int64_t n, int32_t policy, int64_t nodes, const int64_t *submit, const int64_t *width,
                            const int64_t *run, const int64_t *estimate, int64_t *start);
void cluster_free(struct cluster *cluster);

/* Goes on for so many instants at which something happens. 0: all jobs have ended. */
int cluster_advance(struct cluster *cluster, int64_t instants);

#endif
