/* Walks the critical path back from the end of a stream: see path.h. */
#include "path/internal/path_graph.h"
#include "path/path.h"

enum { PASSED = 1 };

/* Return the node whose entry a source is; for a join the latest of those that it waits for. IGNORED: none. */
static uint32_t cause(const struct path *p, uint32_t source)
{
    while (source != IGNORED && source >= p->nodes) {
        uint32_t join = source, latest = IGNORED;
        for (uint32_t i = p->first[join]; i < p->first[join + 1]; i++) {
            if (p->source[i] == IGNORED) continue;
            if (latest == IGNORED || source_time(p, p->source[i]) > source_time(p, latest)) latest = p->source[i];
        }
        source = latest;
    }
    return source;
}

/* Return the node for whose entry a node waited; IGNORED: it did not wait. */
static uint32_t waited_for(const struct path *p, uint32_t node)
{
    uint32_t found = IGNORED;
    int64_t latest = p->node[node].enter;
    for (uint32_t i = p->first[node]; i < p->first[node + 1]; i++) {
        uint32_t source = p->source[i] == IGNORED ? IGNORED : cause(p, p->source[i]);
        if (source == IGNORED || p->node[source].enter <= latest) continue;
        latest = p->node[source].enter;
        found = source;
    }
    return found;
}

/* The number of nodes of a stream, and of those before it, that are over at a time. */
static int64_t over_at(const struct path *p, int64_t stream, int64_t time)
{
    int64_t low = p->offsets[stream], high = p->offsets[stream + 1];
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (p->node[middle].exit <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Return the place where the path goes on from the beginning of a stream; stream -1: it began there. A beginning is
   passed only once. */
static struct place place_before(struct path *p, int64_t stream)
{
    int64_t begin = p->node[p->offsets[stream]].enter;
    int32_t parent = p->parent[stream];
    if (parent < 0 || p->at[stream] == PASSED) return (struct place){-1, 0, 0};
    p->at[stream] = PASSED;
    return (struct place){parent, over_at(p, parent, begin), begin};
}

void path_start(struct path *p, int64_t stream)
{
    int64_t last = p->offsets[stream + 1];
    for (int64_t s = 0; s < p->streams; s++) p->at[s] = 0;
    p->here = (struct place){stream, last, p->node[last - 1].exit};
}

int64_t path_walk(struct path *p, struct path_segment *segments, int64_t most)
{
    struct place *here = &p->here;
    int64_t n = 0;
    if (here->stream < 0) return -1;
    for (int64_t looked = 0; looked < most && here->stream >= 0; looked++) {
        struct place next;
        if (here->node > p->offsets[here->stream]) {
            uint32_t source = waited_for(p, (uint32_t)--here->node);
            if (source == IGNORED) continue;
            next = (struct place){stream_of(p, source), source, p->node[source].enter};
        } else {
            next = place_before(p, here->stream);
        }
        segments[n++] = (struct path_segment){next.time, here->time, here->stream};
        *here = next;
    }
    return n;
}
