#ifndef PATH_H
#define PATH_H

#include <stdint.h>

#include "path/nodes.h"

/* The critical path of a run, and the slack of everything else.

   A stream (one thread of a rank) is a sequence of nodes, each from `enter` to `exit`, in order and without overlap.
   The time before a node has a fixed length. A node can depend on entries of other nodes. With `base` the latest of
   these and its own entry, it lasts until base + (exit - base); the time before base is waiting. A *join* is a point
   that comes when all that it depends on has come. Joins have the numbers after the nodes, and depend on nodes or joins
   of smaller numbers.

   Call path_new, path_count for all dependences, path_counted, path_add for all, path_begin, path_latest until it
   returns 0, path_start, path_walk. One thread at a time may use a path. */
struct path;

/* One stay of the path on a stream, from begin to end (ns). */
struct path_segment {
    int64_t begin, end;
    int64_t stream;
};

/* Create a path. nodes: of all streams. offsets: (streams + 1), the first node of each stream; no stream is empty.
   parent: (streams), the stream on which a path goes on from the beginning of a stream; -1: none. n: number of
   dependences. latest: (nodes + joins), filled with INT64_MAX; receives the latest time (ns) at which each node may
   be entered. All arrays stay the caller's and must outlive the path. Returns NULL if there is no memory. */
struct path *path_new(const struct node *nodes, const int64_t *offsets, const int32_t *parent, int64_t streams,
                      int64_t n, int64_t joins, int64_t *latest);

/* Free a path. */
void path_free(struct path *path);

/* Take dependences, n pairs (u32 sink, u32 source), piece by piece: first path_count for all pieces, then
   path_counted, then path_add for all pieces in the same order. */
void path_count(struct path *path, const void *depends, int64_t n);
void path_counted(struct path *path);
void path_add(struct path *path, const void *depends, int64_t n);

/* Find the latest times with which no stream ends after `end` (ns). path_latest looks at about `most` nodes, which
   lie close together in each stream. It returns 0 when all is done, else 1. */
void path_begin(struct path *path, int64_t end);
int path_latest(struct path *path, int64_t most);

/* Return the number of impossible dependences, which are ignored: the source comes after the sink's exit, or each is
   the other's cause. Valid after path_latest. */
int64_t path_ignored(const struct path *path);

/* Walk back the path that ends where a stream ends; valid after path_latest. path_walk looks at `most` nodes and
   writes the segments that end there, at most as many, the last first. Returns their number; -1: there are no more. */
void path_start(struct path *path, int64_t stream);
int64_t path_walk(struct path *path, struct path_segment *segments, int64_t most);

#endif
