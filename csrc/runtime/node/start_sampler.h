/* Samples of the load, memory, network and disk of a node, by a process of its own (tracelib/node_sampler.py). */
#ifndef START_SAMPLER_H
#define START_SAMPLER_H

/* Start a sampler on each node, by its first rank; it ends when all ranks of the node have. Rank 0's TRACELIB_SYSTEM
 * decides for all. `stem`: NAME of NAME.ranks, the same on all ranks.
 * Context: collective over `all_ranks`, in MPI_Init. */
void sampler_start(const char *stem, int rank, int size);

/* Report at the end of the run if the sampler that this rank started has written nothing.
 * Context: one thread. */
void sampler_check(void);

#endif
