#ifndef IDEAL_STATE_H
#define IDEAL_STATE_H
/* State of a replay on an ideal network, for the files of this folder. */

#include "common/memory.h"
#include "common/table.h"
#include "ideal/ideal.h"

struct group;
struct gathering;

/* A receive that is posted, or the end of a one-sided operation. */
struct receive {
    struct receive *next; /* in its channel */
    struct rank_at *rank;
    int64_t posted, arrived; /* arrived: -1 if that is not known yet */
    bool waited;
};

/* A message that nobody receives yet. */
struct letter {
    struct letter *next; /* in its channel */
    int64_t sent;
    int32_t source;
    enum told_kind kind;
};

/* Letters that wait for receives, or receives that wait for letters, of one key. It goes when it is empty and no
   operation of a dictionary names it. */
struct channel {
    struct entry entry;
    int64_t names;
    struct letter *letters, **last_letter;
    struct receive *receives, **last_receive;
};

/* The receive or the collective of a request, until the rank has waited for it. */
struct request {
    struct receive *receive;
    struct gathering *gathering;
};

/* The objects that an operation names, looked up when its rank does it for the first time. */
struct known {
    struct channel *channel;
    struct group *group;
    int64_t *entered; /* how many collectives of the group it has entered */
    bool sound;       /* all that it names exists */
};

/* A rank, and how far it is. */
struct rank_at {
    const uint8_t *at, *stop; /* packed operations in its buffer */
    int64_t to_come;          /* operations */
    int64_t now, computing, began;
    struct op *shapes; /* by place in the dictionary */
    struct known *known;
    struct op_time *time; /* of its operation; NULL: not wanted */
    struct request *requests;
    struct rank_at *next; /* of those that can go on, or wait for a collective */
    int64_t position;
    uint8_t *buffer;
    int32_t number, slots;
    int64_t entered;    /* the call in which it meets others for a file, in the traced run */
    int64_t met_before; /* ns that it waited for them there */
    int64_t waiting;    /* messages that it sent to ranks of this process, and that nobody received yet */
    bool waits_to_send;
};

struct ideal {
    const struct program *program;
    const int32_t *first;
    int32_t processes, own;
    int64_t eager_limit;
    struct rank_at *ranks;
    int32_t n_ranks; /* of this process */
    size_t buffered;
    struct rank_at *ready, **last_ready;
    struct group *groups;
    struct table channels;
    struct arena arena;
    struct pool channel_pool, letters, receives, gatherings;
    struct told *telling;
    size_t telling_room;
    int64_t waiting, most_waiting; /* messages that nobody received yet */
    struct ideal_state state;
    enum ideal_answer answer;
};

/* End the replay with an answer; the first answer counts. Returns false. */
static inline bool refuse(struct ideal *ideal, enum ideal_answer why)
{
    if (!ideal->answer) ideal->answer = why;
    return false;
}

/* Return a rank of this process by its number in the program; NULL: it is at another process. */
static inline struct rank_at *own_rank(const struct ideal *ideal, int32_t rank)
{
    int32_t number = rank - ideal->first[ideal->own];
    return number >= 0 && number < ideal->n_ranks ? &ideal->ranks[number] : NULL;
}

/* Return the process that has a rank. */
static inline int32_t process_of(const struct ideal *ideal, int32_t rank)
{
    int32_t low = 0, high = ideal->processes;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (ideal->first[middle] <= rank)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Append a rank to those that can go on. The rank must not be in that list yet. */
static inline void is_ready(struct ideal *ideal, struct rank_at *rank)
{
    rank->next = NULL;
    *ideal->last_ready = rank;
    ideal->last_ready = &rank->next;
}

/* Store the times of the rank's operation, which ends now. */
static inline void mark_over(struct rank_at *rank)
{
    if (rank->time) *rank->time++ = (struct op_time){rank->began, rank->now};
}

/* End the operation of a rank: the thing for which it waited is there since `time` (ns). */
static inline void wake(struct ideal *ideal, struct rank_at *rank, int64_t time)
{
    if (rank->now < time) rank->now = time;
    mark_over(rank);
    is_ready(ideal, rank);
}

/* Append a fact to those that other processes are told (outbox.c). Returns false if there is no memory, which ends the
   replay. */
bool outbox_add(struct ideal *ideal, struct told told);

#endif
