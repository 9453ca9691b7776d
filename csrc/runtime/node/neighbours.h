/* Which ranks share this node, and whether there are CPUs for all of them. */
#ifndef NEIGHBOURS_H
#define NEIGHBOURS_H

#include <stdbool.h>

/* True if more ranks share this one's CPUs than there are CPUs; `size` ranks.
 * Context: collective over `all_ranks`, where the run starts; also between store_begin and store_end. */
bool neighbours_share_cpus(int size);

#endif
