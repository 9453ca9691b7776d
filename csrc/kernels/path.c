/* The critical path and the slack of everything else: see path.h. */
#include "path.h"

#include <stdbool.h>
#include <stdlib.h>

#define IGNORED UINT32_MAX
#define DONE UINT32_MAX
enum { PASSED = 1 };

struct dependence {
    uint32_t sink, source;
};

struct path {
    const struct node *node;
    const int64_t *offsets;
    const int32_t *parent;
    int64_t streams;
    uint32_t nodes, joins;
    uint32_t *first;    /* (nodes + joins + 1) of the sources of each sink */
    uint32_t *source;   /* node or join; IGNORED */
    uint32_t *pending;  /* (nodes + joins) sinks of each source that were not looked at yet; DONE */
    int64_t *join_time; /* (joins) */
    int64_t *bound;     /* (nodes + joins) the latest time that those seen allow */
    int64_t *at;        /* (streams) the node of which the exit is done and the entry is not; of the walk: PASSED */
    int64_t *ready;     /* streams, and streams + join, on which it can go on */
    int64_t n_ready;
    int64_t ignored;
};

void path_free(struct path *p)
{
    if (!p) return;
    free(p->first);
    free(p->source);
    free(p->pending);
    free(p->join_time);
    free(p->bound);
    free(p->at);
    free(p->ready);
    free(p);
}

static int64_t time_of(const struct path *p, uint32_t source)
{
    return source < p->nodes ? p->node[source].enter : p->join_time[source - p->nodes];
}

/* Sort the sources by their sinks, and count the sinks of each. */
static void index_dependences(struct path *p, const struct dependence *d, int64_t n)
{
    uint32_t all = p->nodes + p->joins;
    for (int64_t i = 0; i < n; i++) {
        p->first[d[i].sink + 1]++;
        p->pending[d[i].source]++;
    }
    for (uint32_t k = 0; k < all; k++) p->first[k + 1] += p->first[k];
    for (int64_t i = n; i--;) p->source[--p->first[d[i].sink + 1]] = d[i].source;
    for (uint32_t k = 0; k < all; k++) p->first[k] = p->first[k + 1];
    p->first[all] = (uint32_t)n;
}

static void time_joins(struct path *p)
{
    for (uint32_t j = 0; j < p->joins; j++) {
        int64_t latest = INT64_MIN;
        for (uint32_t i = p->first[p->nodes + j]; i < p->first[p->nodes + j + 1]; i++)
            if (time_of(p, p->source[i]) > latest) latest = time_of(p, p->source[i]);
        p->join_time[j] = latest;
    }
}

static void *zeros(int64_t n, size_t size)
{
    return calloc((size_t)(n > 0 ? n : 1), size);
}

struct path *path_new(const struct node *nodes, const int64_t *offsets, const int32_t *parent, int64_t streams,
                      const void *depends, int64_t n, int64_t joins)
{
    struct path *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    *p = (struct path){.node = nodes,
                       .offsets = offsets,
                       .parent = parent,
                       .streams = streams,
                       .nodes = (uint32_t)offsets[streams],
                       .joins = (uint32_t)joins};
    int64_t all = offsets[streams] + joins;
    p->first = zeros(all + 1, sizeof *p->first);
    p->source = zeros(n, sizeof *p->source);
    p->pending = zeros(all, sizeof *p->pending);
    p->join_time = zeros(joins, sizeof *p->join_time);
    p->bound = zeros(all, sizeof *p->bound);
    p->at = zeros(streams, sizeof *p->at);
    p->ready = zeros(streams + joins, sizeof *p->ready);
    if (!p->first || !p->source || !p->pending || !p->join_time || !p->bound || !p->at || !p->ready) {
        path_free(p);
        return NULL;
    }
    index_dependences(p, depends, n);
    time_joins(p);
    return p;
}

static int64_t stream_of(const struct path *p, int64_t node)
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

/* ---- Latest times: from the ends of the streams back, everything after all that depends on it. */

/* One sink less has to be looked at before this source. */
static void settle(struct path *p, uint32_t source)
{
    if (--p->pending[source]) return;
    if (source >= p->nodes) {
        p->ready[p->n_ready++] = p->streams + (source - p->nodes);
        return;
    }
    int64_t stream = stream_of(p, source);
    if (p->at[stream] == (int64_t)source) p->ready[p->n_ready++] = stream;
}

static void limit(int64_t *bound, int64_t value)
{
    if (value < *bound) *bound = value;
}

/* Ignore the sources that come after `until`, or are done although this sink is not: then each is the other's cause. */
static void ignore_impossible(struct path *p, uint32_t sink, int64_t until)
{
    for (uint32_t i = p->first[sink]; i < p->first[sink + 1]; i++) {
        uint32_t source = p->source[i];
        bool done = p->pending[source] == DONE;
        if (!done && source != sink && time_of(p, source) <= until) continue;
        p->source[i] = IGNORED;
        p->ignored++;
        if (source == sink)
            p->pending[source]--;
        else if (!done)
            settle(p, source);
    }
}

static void bound_sources(struct path *p, uint32_t sink, int64_t latest)
{
    for (uint32_t i = p->first[sink]; i < p->first[sink + 1]; i++) {
        if (p->source[i] == IGNORED) continue;
        limit(&p->bound[p->source[i]], latest);
        settle(p, p->source[i]);
    }
}

/* The latest of a node's entry and its sources. */
static int64_t base_of(const struct path *p, uint32_t node)
{
    int64_t base = p->node[node].enter;
    for (uint32_t i = p->first[node]; i < p->first[node + 1]; i++)
        if (p->source[i] != IGNORED && time_of(p, p->source[i]) > base) base = time_of(p, p->source[i]);
    return base;
}

static void finish_exit(struct path *p, uint32_t node, int64_t latest_exit)
{
    ignore_impossible(p, node, p->node[node].exit);
    int64_t latest = latest_exit - (p->node[node].exit - base_of(p, node));
    limit(&p->bound[node], latest);
    bound_sources(p, node, latest);
}

static void finish_join(struct path *p, uint32_t join)
{
    p->pending[join] = DONE;
    ignore_impossible(p, join, INT64_MAX);
    bound_sources(p, join, p->bound[join]);
}

/* Go back on a stream as far as possible: to an entry that something depends on that is not done yet. */
static void go_back(struct path *p, int64_t stream)
{
    for (int64_t node = p->at[stream]; !p->pending[node];) {
        p->pending[node] = DONE;
        p->at[stream] = --node;
        if (node < p->offsets[stream]) break;
        finish_exit(p, (uint32_t)node, p->bound[node + 1] - (p->node[node + 1].enter - p->node[node].exit));
    }
}

static void work(struct path *p)
{
    while (p->n_ready) {
        int64_t what = p->ready[--p->n_ready];
        if (what < p->streams)
            go_back(p, what);
        else
            finish_join(p, p->nodes + (uint32_t)(what - p->streams));
    }
}

/* Of the streams that wait for each other, the one that is latest goes on. False: none waits. */
static bool untie(struct path *p)
{
    int64_t chosen = -1;
    for (int64_t s = 0; s < p->streams; s++)
        if (p->at[s] >= p->offsets[s] && (chosen < 0 || p->node[p->at[s]].enter > p->node[p->at[chosen]].enter))
            chosen = s;
    if (chosen < 0) return false;
    p->pending[p->at[chosen]] = 0;
    p->ready[p->n_ready++] = chosen;
    return true;
}

int64_t path_latest(struct path *p, int64_t end, int64_t *latest)
{
    for (uint32_t k = 0; k < p->nodes + p->joins; k++) p->bound[k] = INT64_MAX;
    for (int64_t s = 0; s < p->streams; s++) p->at[s] = p->offsets[s + 1] - 1;
    for (int64_t s = 0; s < p->streams; s++) finish_exit(p, (uint32_t)p->at[s], end);
    p->n_ready = 0;
    for (int64_t s = 0; s < p->streams; s++)
        if (!p->pending[p->at[s]]) p->ready[p->n_ready++] = s;
    for (uint32_t j = p->nodes; j < p->nodes + p->joins; j++)
        if (!p->pending[j]) p->ready[p->n_ready++] = p->streams + (j - p->nodes);
    do work(p);
    while (untie(p));
    for (uint32_t k = 0; k < p->nodes; k++) latest[k] = p->bound[k];
    return p->ignored;
}

/* ---- The path. */

/* The node whose entry a source is: of a join the latest of those that it waits for. IGNORED: none. */
static uint32_t cause(const struct path *p, uint32_t source)
{
    while (source != IGNORED && source >= p->nodes) {
        uint32_t join = source, latest = IGNORED;
        for (uint32_t i = p->first[join]; i < p->first[join + 1]; i++) {
            if (p->source[i] == IGNORED) continue;
            if (latest == IGNORED || time_of(p, p->source[i]) > time_of(p, latest)) latest = p->source[i];
        }
        source = latest;
    }
    return source;
}

/* The node whose entry this one waited for; IGNORED: it did not wait. */
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

/* Where a path stands: before `time` on a stream, whose nodes from `node` on are behind it. */
struct place {
    int64_t stream, node, time;
};

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

/* Go back on the stream to where it waited for another, or to its beginning; returns where the path goes on, its stream
   -1 at the beginning of the run. A beginning is passed but once. */
static struct place leave(struct path *p, struct place here)
{
    int64_t first = p->offsets[here.stream], node = here.node - 1;
    for (; node >= first; node--) {
        uint32_t source = waited_for(p, (uint32_t)node);
        if (source != IGNORED) return (struct place){stream_of(p, source), source, p->node[source].enter};
    }
    int32_t parent = p->parent[here.stream];
    if (parent < 0 || p->at[here.stream] == PASSED) return (struct place){-1, 0, 0};
    p->at[here.stream] = PASSED;
    return (struct place){parent, over_at(p, parent, p->node[first].enter), p->node[first].enter};
}

int64_t path_walk(struct path *p, int64_t stream, struct path_segment *segments)
{
    int64_t n = 0, last = p->offsets[stream + 1];
    for (int64_t s = 0; s < p->streams; s++) p->at[s] = 0;
    struct place here = {stream, last, p->node[last - 1].exit};
    for (; here.stream >= 0; n++) {
        struct place next = leave(p, here);
        if (segments) segments[n] = (struct path_segment){next.time, here.time, here.stream};
        here = next;
    }
    return n;
}
