/* Merges the nodes of threads in order of time, and finds the node of a time. */
#include "path/nodes.h"

#include <stdbool.h>

static bool comes_first(const struct node *a, const struct node *b)
{
    return a->enter < b->enter || (a->enter == b->enter && a->exit <= b->exit);
}

void nodes_merge(const struct node *calls, int64_t n_calls, const struct node *others, int64_t n_others,
                 struct node *last, struct node *merged)
{
    const struct node *calls_end = calls + n_calls, *others_end = others + n_others;
    int32_t region = last->region;
    int64_t end = last->exit;
    for (; calls < calls_end || others < others_end; merged++) {
        bool other = calls == calls_end || (others < others_end && comes_first(others, calls));
        *merged = other ? *others++ : *calls++;
        int32_t after = other && merged->region != NODE_KEEPS_REGION ? merged->region : region;
        merged->region = region;
        region = after;
        if (merged->enter < end) merged->enter = end;
        if (merged->exit < merged->enter) merged->exit = merged->enter;
        end = merged->exit;
    }
    last->region = region;
    last->exit = end;
}

static void begin_earlier(int64_t *begin, const struct node *first, int64_t n)
{
    if (n && first->enter < *begin) *begin = first->enter;
}

void nodes_of_lanes(const struct node_lane *lanes, int64_t n, const struct node *calls, const struct node *others,
                    struct node *nodes)
{
    for (const struct node_lane *lane = lanes; lane < lanes + n; lane++) {
        int64_t begin = lane->begin, rows = lane->calls + lane->others;
        begin_earlier(&begin, calls, lane->calls);
        begin_earlier(&begin, others, lane->others);
        *nodes++ = (struct node){begin, begin, NODE_MARKED, -1, 0};
        struct node last = {.exit = INT64_MIN, .region = -1};
        nodes_merge(calls, lane->calls, others, lane->others, &last, nodes);
        nodes += rows;
        int64_t end = rows && last.exit > lane->end ? last.exit : lane->end;
        *nodes++ = (struct node){end, end, NODE_MARKED, last.region, 0};
        calls += lane->calls;
        others += lane->others;
    }
}

/* Whether a node is past: entered at `time` or before, or of those that left: not before it. */
static bool past(const struct node *node, int64_t time, bool leaving)
{
    return leaving ? node->exit < time : node->enter <= time;
}

/* Return the first node of [first, last) that is not past. The search goes from `near` on in growing steps. */
static int64_t first_to_come(const struct node *nodes, int64_t first, int64_t last, int64_t near, int64_t time,
                             bool leaving)
{
    int64_t low = first, high = last;
    if (near < first || near > last) near = first;
    for (int64_t step = 1; near < last && past(&nodes[near], time, leaving); step *= 2) {
        low = near + 1;
        near = step < last - near ? near + step : last;
    }
    if (near < high) high = near;
    for (int64_t step = 1; high - step > low && !past(&nodes[high - step], time, leaving); step *= 2) high -= step;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (past(&nodes[middle], time, leaving))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void nodes_entered(const struct node *nodes, const int64_t *offsets, int64_t *hints, const int64_t *streams,
                   const int64_t *times, int64_t n, int64_t *found)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t first = offsets[streams[i]], time = times[i];
        int64_t at = first_to_come(nodes, first, offsets[streams[i] + 1], hints[streams[i]], time, false);
        hints[streams[i]] = at--;
        while (at > first && nodes[at].call < 0 && nodes[at].enter == time) at--;
        bool inside = at >= first && nodes[at].call >= 0 && (nodes[at].enter == time || time < nodes[at].exit);
        found[i] = inside ? at : -1;
    }
}

void nodes_left(const struct node *nodes, const int64_t *offsets, int64_t *hints, const int64_t *streams,
                const int64_t *times, int64_t n, int64_t *found)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t last = offsets[streams[i] + 1] - 1, time = times[i];
        int64_t at = first_to_come(nodes, offsets[streams[i]], last + 1, hints[streams[i]], time, true);
        hints[streams[i]] = at;
        while (at < last && nodes[at].call < 0 && nodes[at].exit == time) at++;
        found[i] = at <= last && nodes[at].call >= 0 && nodes[at].enter <= time ? at : -1;
    }
}
