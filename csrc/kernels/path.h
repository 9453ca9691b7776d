#ifndef PATH_H
#define PATH_H

#include <stdint.h>

#include "nodes.h"

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
   that has come to the beginning of a stream, -1: none. depends: n pairs (u32 sink, u32 source); they are copied, the
   other arrays must stay. NULL: no memory. */
struct path *path_new(const struct node *nodes, const int64_t *offsets, const int32_t *parent, int64_t streams,
                      const void *depends, int64_t n, int64_t joins);
void path_free(struct path *path);

/* The latest time at which each node may be entered so that no stream ends after `end`, into `latest` (nodes). Returns
   how many dependences cannot be, since the source comes after the sink's exit, or each is the other's cause: these are
   ignored from now on. */
int64_t path_latest(struct path *path, int64_t end, int64_t *latest);

/* After path_latest: the segments of the path that ends where `stream` ends, the last first; copied to `segments`
   unless that is NULL. Returns their number. */
int64_t path_walk(struct path *path, int64_t stream, struct path_segment *segments);

#endif
