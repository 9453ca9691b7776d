#ifndef CLUSTER_H
#define CLUSTER_H

#include <stdint.h>

/* Policies by which batch jobs start on a cluster of equal nodes. analyzer/jobs/cluster.py defines each policy. */
enum {
    CLUSTER_FCFS,
    CLUSTER_FIRST_FIT,
    CLUSTER_BACKFILL_FIRST_FIT,
    CLUSTER_BACKFILL_PREDICTIVE,
    CLUSTER_EASY,
    CLUSTER_POLICIES
};

/* A simulation of the queue and the nodes of a cluster. */
struct cluster;

/* Create a simulation of n jobs, in order of submission. Times have any unit; their sum must be below 2^62. policy:
   CLUSTER_... submit, width, run, estimate: (n). width: number of nodes of each job, 1 to `nodes`. run: at least 0;
   the part beyond the estimate is cut off. estimate: the run time that the scheduler knows, above 0. start: (n),
   receives the start of each job. All arrays stay the caller's and must outlive the cluster. Returns NULL if there
   is no memory. */
struct cluster *cluster_new(int64_t n, int32_t policy, int64_t nodes, const int64_t *submit, const int64_t *width,
                            const int64_t *run, const int64_t *estimate, int64_t *start);

/* Free a cluster. */
void cluster_free(struct cluster *cluster);

/* Simulate the next `instants` instants at which something happens. Returns 0 when all jobs have ended. */
int cluster_advance(struct cluster *cluster, int64_t instants);

#endif
