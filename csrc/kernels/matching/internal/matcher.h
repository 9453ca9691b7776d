#ifndef MATCHER_H
#define MATCHER_H
#include "matching/half_messages.h"
#include "records.h"

/* The channel of a message; `channel` is that of partitioned operations. */
struct key {
    int32_t comm, source, destination, tag, channel;
};

/* A waiting half, or ghost. `next` is the next one in its queue, or in the list of free entries. */
struct waiting {
    struct half half;
    int32_t number;
    int64_t next;
};

/* A slot of the hash table: the queue of one key. Empty slots have head NONE, and queues are never empty. */
struct queue {
    struct key key;
    int32_t holds_sends;
    int64_t head, tail;
};

/* A row of requests that belongs to an earlier window than it lies in. */
struct late_request {
    struct file_request row;
    int32_t rank, window;
};

struct matcher {
    int32_t first, last; /* the ranks of this matcher, [first, last) */
    int32_t ranks;
    const int32_t *first_cpu;
    const uint8_t *present; /* by rank */
    int32_t *sent;          /* by rank: number of sends that were added */
    struct queue *slots;
    uint64_t mask;
    uint64_t used;
    struct waiting *pool;
    int64_t pool_size;
    int64_t free;
    int64_t waiting; /* halves; ghosts do not count */
    int64_t alone;   /* halves whose other side was a ghost */
    struct trace_message *messages;
    int64_t found;       /* messages */
    int64_t room;        /* for messages */
    struct half *halves; /* of the rows at hand */
    int64_t halves_room;
    struct outgoing *going;
    int64_t n_going, going_room;
    struct late_request *late;
    int64_t n_late, late_room;
};

#endif
