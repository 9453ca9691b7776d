/* Which ranks share this node, and whether there are CPUs for all of them. */
#ifndef NEIGHBOURS_H
#define NEIGHBOURS_H

#include <stdbool.h>

/* In MPI_Init, all ranks together: do more ranks share this one's CPUs than they are? */
bool neighbours_share_cpus(int size);

#endif
