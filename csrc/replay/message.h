#ifndef MESSAGE_H
#define MESSAGE_H
/* Messages, and where their sends and receives meet. */

#include "events.h"
#include "table.h"

struct plan;
struct sim;
struct thread;

/* Alone in a line of the cache. */
struct receive {
    _Alignas(LINE) struct receive *next;
    struct thread *thread; /* that posted it, and may wait for it */
    int64_t op;
    struct moment posted;
    bool arrived, waited;
    bool access; /* it stands for the end of a one-sided operation */
};

/* Alone in a line of the cache. */
struct message {
    union {
        _Alignas(LINE) struct receive *receive; /* once it matched one */
        struct message *next;                   /* until then: of those in its channel */
    };
    struct thread *sender;
    int64_t op;
    union {
        int64_t sequence; /* of submission; until it starts */
        int64_t arrival;
    };
    int64_t wire, hold; /* ns to its arrival; that links are taken */
    int32_t resource[3];
    bool matched : 1;
    bool rendezvous : 1, frees_at_start : 1, frees_at_arrival : 1;
    bool inside : 1; /* of a node */
    bool access : 1; /* it is a struct access */
    bool arrived : 1;
    bool overlong : 1, held : 1; /* its links become free at another time than it arrives; and are not free yet */
};

/* A put or a get. */
struct access {
    struct message message;
    struct accesses *accesses[2]; /* of its target, of its window */
};

/* Sends without receives, or receives without sends, of one key. It goes when it is empty and no plan names it. */
struct channel {
    void *first, *last; /* first is NULL: it is empty */
    struct named_channel *named;
    int32_t plans;
    bool receives;
};

/* In a table apart from the channel: who has found it does not need the key. */
struct named_channel {
    struct entry entry;
    struct channel *channel;
};

/* channel.c; channel_find, of the thread's plan, is NULL: no memory */
struct channel *channel_find(struct sim *sim, struct thread *thread);
void channel_leave(struct sim *sim, struct plan *plan);
int64_t channels_unreceived(const struct sim *sim);

/* message.c: sends meet receives */
void message_submit(struct sim *sim, struct thread *thread);
void message_access(struct sim *sim, struct thread *thread);
struct receive *message_post(struct sim *sim, struct thread *thread, struct moment posted);
void message_started(struct sim *sim, struct message *message);
void message_arrived(struct sim *sim, struct message *message);
void message_freed(struct sim *sim, struct message *message);

#endif
