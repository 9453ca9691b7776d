/* Samples of the load, memory, network and disk of a node, by a process of its own (tracelib/node_sampler.py). */
#ifndef START_SAMPLER_H
#define START_SAMPLER_H

/* In MPI_Init, collective over MPI_COMM_WORLD: rank 0's TRACELIB_SYSTEM decides for all. The first rank of each node
 * starts the sampler, which ends when all ranks of the node have. `stem`: NAME of NAME.ranks, the same on all ranks. */
void sampler_start(const char *stem, int rank, int size);

/* At the end of the run: say so if the sampler that this rank started has written nothing. */
void sampler_check(void);

#endif
