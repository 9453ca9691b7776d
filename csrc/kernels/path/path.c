/* Computes the slack of all nodes from the graph of what waits for what: see path.h. */
#include "path/path.h"

#include <stdbool.h>
#include <stdlib.h>

#include "path/internal/path_graph.h"

#define DONE UINT32_MAX

struct dependence {
    uint32_t sink, source;
};

void path_free(struct path *p)
{
    if (!p) return;
    free(p->first);
    free(p->source);
    free(p->pending);
    free(p->join_time);
    free(p->at);
    free(p->ready);
    free(p);
}

static void *zeros(int64_t n, size_t size)
{
    return calloc((size_t)(n > 0 ? n : 1), size);
}

struct path *path_new(const struct node *nodes, const int64_t *offsets, const int32_t *parent, int64_t streams,
                      int64_t n, int64_t joins, int64_t *latest)
{
    struct path *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    *p = (struct path){.node = nodes,
                       .offsets = offsets,
                       .parent = parent,
                       .streams = streams,
                       .nodes = (uint32_t)offsets[streams],
                       .joins = (uint32_t)joins,
                       .latest = latest};
    int64_t all = offsets[streams] + joins;
    p->first = zeros(all + 2, sizeof *p->first);
    p->source = zeros(n, sizeof *p->source);
    p->pending = zeros(all, sizeof *p->pending);
    p->join_time = zeros(joins, sizeof *p->join_time);
    p->at = zeros(streams, sizeof *p->at);
    p->ready = zeros(streams + joins, sizeof *p->ready);
    if (p->first && p->source && p->pending && p->join_time && p->at && p->ready) return p;
    path_free(p);
    return NULL;
}

void path_count(struct path *p, const void *depends, int64_t n)
{
    const struct dependence *d = depends;
    for (int64_t i = 0; i < n; i++) {
        p->first[d[i].sink + 2]++;
        p->pending[d[i].source]++;
    }
}

void path_counted(struct path *p)
{
    for (uint32_t k = 0; k < p->nodes + p->joins; k++) p->first[k + 2] += p->first[k + 1];
}

/* first[k + 1] counts up from the first source of sink k to the one behind its last, which is the first of k + 1. */
void path_add(struct path *p, const void *depends, int64_t n)
{
    const struct dependence *d = depends;
    for (int64_t i = 0; i < n; i++) p->source[p->first[d[i].sink + 1]++] = d[i].source;
}

/* Count one sink of this source as done. */
static void settle_source(struct path *p, uint32_t source)
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
        if (!done && source != sink && source_time(p, source) <= until) continue;
        p->source[i] = IGNORED;
        p->ignored++;
        if (source == sink)
            p->pending[source]--;
        else if (!done)
            settle_source(p, source);
    }
}

static void bound_sources(struct path *p, uint32_t sink, int64_t latest)
{
    for (uint32_t i = p->first[sink]; i < p->first[sink + 1]; i++) {
        if (p->source[i] == IGNORED) continue;
        limit(&p->latest[p->source[i]], latest);
        settle_source(p, p->source[i]);
    }
}

/* Return the latest of a node's entry and its sources. */
static int64_t base_of(const struct path *p, uint32_t node)
{
    int64_t base = p->node[node].enter;
    for (uint32_t i = p->first[node]; i < p->first[node + 1]; i++)
        if (p->source[i] != IGNORED && source_time(p, p->source[i]) > base) base = source_time(p, p->source[i]);
    return base;
}

static void finish_exit(struct path *p, uint32_t node, int64_t latest_exit)
{
    ignore_impossible(p, node, p->node[node].exit);
    int64_t latest = latest_exit - (p->node[node].exit - base_of(p, node));
    limit(&p->latest[node], latest);
    bound_sources(p, node, latest);
}

static void finish_join(struct path *p, uint32_t join)
{
    p->pending[join] = DONE;
    ignore_impossible(p, join, INT64_MAX);
    bound_sources(p, join, p->latest[join]);
}

/* Go back on a stream as far as possible: to an entry that something depends on that is not done yet. */
static void go_back(struct path *p, int64_t stream)
{
    for (int64_t node = p->at[stream]; !p->pending[node];) {
        if (p->budget-- <= 0) {
            p->ready[p->n_ready++] = stream;
            return;
        }
        p->pending[node] = DONE;
        p->at[stream] = --node;
        if (node < p->offsets[stream]) return;
        finish_exit(p, (uint32_t)node, p->latest[node + 1] - (p->node[node + 1].enter - p->node[node].exit));
    }
}

/* Let the latest of the streams that wait for each other go on. Returns false if none waits. */
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

static void time_joins(struct path *p)
{
    for (uint32_t j = 0; j < p->joins; j++) {
        int64_t latest = INT64_MIN;
        for (uint32_t i = p->first[p->nodes + j]; i < p->first[p->nodes + j + 1]; i++)
            if (source_time(p, p->source[i]) > latest) latest = source_time(p, p->source[i]);
        p->join_time[j] = latest;
    }
}

void path_begin(struct path *p, int64_t end)
{
    time_joins(p);
    for (int64_t s = 0; s < p->streams; s++) p->at[s] = p->offsets[s + 1] - 1;
    for (int64_t s = 0; s < p->streams; s++) finish_exit(p, (uint32_t)p->at[s], end);
    p->n_ready = 0;
    for (int64_t s = 0; s < p->streams; s++)
        if (!p->pending[p->at[s]]) p->ready[p->n_ready++] = s;
    for (uint32_t j = p->nodes; j < p->nodes + p->joins; j++)
        if (!p->pending[j]) p->ready[p->n_ready++] = p->streams + (j - p->nodes);
}

int path_latest(struct path *p, int64_t most)
{
    p->budget = most;
    while (p->budget > 0) {
        if (!p->n_ready && !untie(p)) return 0;
        int64_t what = p->ready[--p->n_ready];
        if (what < p->streams) {
            go_back(p, what);
        } else {
            p->budget--;
            finish_join(p, p->nodes + (uint32_t)(what - p->streams));
        }
    }
    return 1;
}

int64_t path_ignored(const struct path *p)
{
    return p->ignored;
}
