#ifndef PATH_H
#define PATH_H

#include <stdint.h>

#include "path/nodes.h"

/* What determines how long a run takes, and how much else could be slower.

   A stream (one thread of a rank) is a sequence of nodes, each from `enter` to `exit`, in order and without overlap;
   what lies before a node has a fixed length. A node can depend on entries of others: with `base` the latest of these
   and its own entry, it lasts until base + (exit - base), so that time before base is waiting. A *join* is a point that
   comes when all that it depends on has come; joins have the numbers after the nodes, and depend on nodes or joins of
   smaller numbers. */
struct path;

/* One stay of the path on a stream, from begin to end (ns). */
struct path_segment {
    int64_t begin, end;
    int64_t stream;
};

/* offsets: (streams + 1) of the first node of each stream; none is empty. parent: the stream on which a path goes on
   that has come to the beginning of a stream, -1: none. n: dependences. latest: (nodes + joins) INT64_MAX, the latest
   time at which each node may be entered, when all is done. All arrays must stay. NULL: no memory. */
struct path *path_new(const struct node *nodes, const int64_t *offsets, const int32_t *parent, int64_t streams,
                      int64_t n, int64_t joins, int64_t *latest);
void path_free(struct path *path);

/* Dependences, n pairs (u32 sink, u32 source), piece by piece: all are counted, then all are added in the same order.
 */
void path_count(struct path *path, const void *depends, int64_t n);
void path_counted(struct path *path);
void path_add(struct path *path, const void *depends, int64_t n);

/* Finds the latest times so that no stream ends after `end`: path_latest goes on for about so many nodes, which lie
   close together for each stream; 0: all is done. */
void path_begin(struct path *path, int64_t end);
int path_latest(struct path *path, int64_t most);

/* After that: how many dependences cannot be, since the source comes after the sink's exit, or each is the other's
   cause. These are ignored. */
int64_t path_ignored(const struct path *path);

/* After that: the segments of the path that ends where a stream ends, the last first. path_walk looks at `most` nodes
   and writes the segments that end there (at most as many); returns their number, -1: there are no more. */
void path_start(struct path *path, int64_t stream);
int64_t path_walk(struct path *path, struct path_segment *segments, int64_t most);

#endif
