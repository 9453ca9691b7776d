#ifndef NODES_H
#define NODES_H

#include <stdint.h>

/* A stretch of a thread's time: a call (an index), or something else (negative: analyzer/critical/thread_nodes.py).
   Times are ns. Nodes of a thread are in order and without overlap. Before a node the thread computed in `region`,
   after the tracer had held it for `tracer` ns from an exit on. */
struct node {
    int64_t enter, exit;
    int32_t call, region;
    int64_t tracer;
};

/* Special values. NODE_MARKED instead of a call: a point in time. NODE_KEEPS_REGION in a row to be merged: the
   region is the same after it as before. */
enum { NODE_MARKED = -1, NODE_KEEPS_REGION = -2 };

/* Merge calls and other rows, each in order of (enter, exit), and cut overlaps: the later one begins where the
   earlier one ends. The `region` of the other rows is the region after them. Rows can come in pieces: `last` is the
   place and region of the thread before, and is moved on. merged: room for n_calls + n_others. */
void nodes_merge(const struct node *calls, int64_t n_calls, const struct node *others, int64_t n_others,
                 struct node *last, struct node *merged);

/* Number of calls and of other rows of a thread. The thread begins at `begin`, or with its first row if that is
   earlier. It ends at `end`, or with its last row if that is later. Times are ns. */
struct node_lane {
    int64_t calls, others, begin, end;
};

/* Write all nodes of n threads, one thread after the other: a node at its begin, its rows merged, and a node at its
   end. calls, others: of all threads, in the same order. nodes: room for all rows and 2 * n. */
void nodes_of_lanes(const struct node_lane *lanes, int64_t n, const struct node *calls, const struct node *others,
                    struct node *nodes);

/* Find for each of n questions (stream, time in ns) the call that the stream was in, or entered, at that time; -1:
   none. A call ends before its exit. Other nodes without length are passed over. offsets: the first node of each
   stream, and the end. hints: one for each stream, 0 at first: where the search begins. found: room for n. */
void nodes_entered(const struct node *nodes, const int64_t *offsets, int64_t *hints, const int64_t *streams,
                   const int64_t *times, int64_t n, int64_t *found);

/* Find the call that each stream left at that time, or was in; else as nodes_entered. */
void nodes_left(const struct node *nodes, const int64_t *offsets, int64_t *hints, const int64_t *streams,
                const int64_t *times, int64_t n, int64_t *found);

#endif
