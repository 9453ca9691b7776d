/* The graph of what waits for what, for all files of the critical path. */
#ifndef PATH_GRAPH_H
#define PATH_GRAPH_H

#include <stdint.h>

#include "path/nodes.h"

#define IGNORED UINT32_MAX

/* Where a path stands: before `time` on a stream, whose nodes from `node` on are behind it. */
struct place {
    int64_t stream, node, time;
};

struct path {
    const struct node *node;
    const int64_t *offsets;
    const int32_t *parent;
    int64_t streams;
    uint32_t nodes, joins;
    uint32_t *first;    /* (nodes + joins + 2) of the sources of each sink */
    uint32_t *source;   /* node or join; IGNORED */
    uint32_t *pending;  /* (nodes + joins) sinks of each source that were not looked at yet; DONE */
    int64_t *join_time; /* (joins) */
    int64_t *latest;    /* (nodes + joins) the latest time that those seen allow */
    int64_t *at;        /* (streams) the node of which the exit is done and the entry is not; of the walk: PASSED */
    int64_t *ready;     /* streams, and streams + join, on which it can go on */
    int64_t n_ready;
    int64_t budget; /* nodes to be looked at before the caller is to be asked */
    int64_t ignored;
    struct place here; /* of the walk */
};

/* Return the time (ns) of a source, which is a node or a join. */
static inline int64_t source_time(const struct path *p, uint32_t source)
{
    return source < p->nodes ? p->node[source].enter : p->join_time[source - p->nodes];
}

/* Return the stream of a node. */
static inline int64_t stream_of(const struct path *p, int64_t node)
{
    int64_t low = 0, high = p->streams;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (p->offsets[middle] <= node)
            low = middle;
        else
            high = middle;
    }
    return low;
}

#endif
