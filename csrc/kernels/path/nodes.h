#ifndef NODES_H
#define NODES_H

#include <stdint.h>

/* What a thread did at a time: a call (an index), or something else (negative: analyzer/critical/thread_nodes.py).
   Nodes of a thread are in order and without overlap; before one the thread computed in `region`, after the tracer had
   held it for `tracer` ns from an exit on. */
struct node {
    int64_t enter, exit;
    int32_t call, region;
    int64_t tracer;
};

/* Instead of a call: a point in time. Of a row to be merged: the region is the same after it as before. */
enum { NODE_MARKED = -1, NODE_KEEPS_REGION = -2 };

/* Bring calls and other rows, each in order of (enter, exit), into one order, and cut what overlaps: the later one
   begins where the earlier one ends. `region` of the other rows is the one after them. Rows can come in pieces: `last`
   says where and in which region the thread was before, and then where it is. */
void nodes_merge(const struct node *calls, int64_t n_calls, const struct node *others, int64_t n_others,
                 struct node *last, struct node *merged);

/* How many calls and other rows a thread has. It begins at `begin`, or with the first of them if that is earlier, and
   ends at `end`, or with the last of them if that is later. */
struct node_lane {
    int64_t calls, others, begin, end;
};

/* All nodes of n threads, one after the other: each thread has one at its begin, its rows merged, and one at its end.
   The calls, and the other rows, of the threads lie in the same order. */
void nodes_of_lanes(const struct node_lane *lanes, int64_t n, const struct node *calls, const struct node *others,
                    struct node *nodes);

/* For each of n questions (stream, time) the call that the stream was in, or entered, at that time; -1: none. A call
   ends before its exit, and another node without length is passed over. offsets: the first node of each stream, and the
   end; hints: one of each stream, where the search begins, from 0 on. */
void nodes_entered(const struct node *nodes, const int64_t *offsets, int64_t *hints, const int64_t *streams,
                   const int64_t *times, int64_t n, int64_t *found);

/* The call that each stream left at that time, or was in. */
void nodes_left(const struct node *nodes, const int64_t *offsets, int64_t *hints, const int64_t *streams,
                const int64_t *times, int64_t n, int64_t *found);

#endif
