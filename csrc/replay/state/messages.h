#ifndef MESSAGES_H
#define MESSAGES_H
/* Messages and receives. */

#include <stdbool.h>

#include "common/memory.h"
#include "state/event.h"

struct thread;

/* Alone in a line of the cache. */
struct receive {
    _Alignas(LINE) struct receive *next;
    struct thread *thread; /* that posted it, and may wait for it */
    int64_t op;
    struct moment posted;
    bool arrived, waited;
    bool access;           /* it stands for the end of a one-sided operation */
    struct receive *later; /* by arrival: of those of its channel that are not over */
};

/* Alone in a line of the cache. */
struct message {
    _Alignas(LINE) struct thread *sender; /* not in the union: its members would fill a line of their own */
    union {
        struct receive *receive; /* once it matched one */
        struct message *next;    /* until then: of those in its channel */
    };
    int64_t op;
    union {
        int64_t sequence; /* of submission, or of the start (by_start); until it starts, or arrives */
        int64_t arrival;
    };
    int64_t wire, hold; /* ns to its arrival; that links are taken */
    int32_t resource[3];
    bool matched : 1;
    bool rendezvous : 1;
    bool frees_at_match : 1, frees_at_start : 1, frees_at_arrival : 1; /* see struct plan */
    bool inside : 1;                                                   /* of a node */
    bool access : 1;                                                   /* it is a struct access */
    bool arrived : 1;
    bool has_out : 1, has_in : 1; /* links, before it starts: in_turn.c */
    bool by_start : 1;
    bool overlong : 1, held : 1; /* its links become free at another time than it arrives; and are not free yet */
};

_Static_assert(sizeof(struct receive) == LINE && sizeof(struct message) == LINE, "alone in a line of the cache");

#endif
