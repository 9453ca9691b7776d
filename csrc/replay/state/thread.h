#ifndef THREAD_H
#define THREAD_H
/* Threads, and the plans of their operations. */

#include <stdbool.h>

#include "common/memory.h"
#include "replay.h"

struct app;
struct channel;
struct instance;
struct receive;
struct supply;

enum waiting {
    WAIT_NOTHING,
    WAIT_MESSAGE,
    WAIT_SEND,
    WAIT_SEMAPHORE,
    WAIT_ACCESS,
    WAIT_MEMBERS,
    WAIT_COLLECTIVE,
    WAIT_CHILDREN,
    WAIT_FILE
};

enum thread_state { THREAD_READY, THREAD_RUNNING, THREAD_BUSY, THREAD_BLOCKED, THREAD_DONE };

/* The receive, collective or file access of a request, until a thread has waited for it. */
struct slot {
    struct receive *receive;
    struct instance *instance;
    int64_t file; /* when an OP_FILE is over; when a FILE_BEGIN was asked for */
};

/* Checks and costs of an operation for its thread, made when the thread does it first and kept while it repeats it. */
struct plan {
    struct channel *channel; /* of its messages; NULL: not found yet */
    int64_t bytes;
    int64_t overhead; /* ns of its thread's processor, besides its burst */
    int32_t request;
    uint8_t kind;  /* an enum op_kind, or PLAN_END or PLAN_SHARE */
    uint8_t phase; /* in which it acts */
    bool made : 1;
    bool simple : 1;  /* it is made, plain, not drawn, and shared by no virtual threads */
    bool drawn : 1;   /* overhead, wire and hold are random: drawn anew each time */
    bool plain : 1;   /* its bursts last as long as they were measured */
    bool shared : 1;  /* its request is one of the rank */
    bool inside : 1;  /* its message stays in the node */
    bool settled : 1; /* the next four are known, and stay */
    bool rendezvous : 1;
    bool frees_at_match : 1, frees_at_start : 1, frees_at_arrival : 1; /* when its thread goes on; none: at once */
};

/* The message of a plan that sends: see struct message. */
struct sending {
    int64_t wire, hold;
    int32_t resource[3];
};

/* Behind the last operation of a stream; the share of a virtual thread. */
enum { PLAN_END = OP_KINDS, PLAN_SHARE };

/* The first 128 bytes are those that nearly each operation needs, the next 64 those that count it. */
struct thread {
    _Alignas(LINE) struct plan *plan; /* of its operation */
    const struct op *op;              /* but for its burst */
    const uint8_t *at, *stop;         /* the packed operations in its buffer: what is not unpacked yet */
    int64_t to_come;                  /* operations, after this one */
    struct supply *supply;            /* of its operations */
    struct usage *usage;              /* its own, or that of its parent */
    int64_t remaining; /* ns of processor time until the operation acts, the last plan->overhead of them its own */

    int64_t op_number; /* in all operations of all applications */
    int64_t op_began;
    int64_t since;       /* running, blocked or ready since */
    uint32_t waits_from; /* order at that time: of who is ahead of the clock */
    uint32_t draws;
    struct slot *slots;
    struct app *app;
    uint64_t who;
    uint32_t generation;
    uint8_t state, waits; /* thread_state, waiting */
    bool ahead;           /* of the clock, where nobody can see it: see own_cpu.c */
    bool alone;           /* it has a processor of its own */

    struct usage own;
    bool finishing; /* the operation under way ends when the thread has a processor again */
    int32_t node, rank;
    int32_t stream, number;
    int64_t switching;
    struct thread *next; /* in a list of waiting threads */
    struct thread *parent;
    int32_t children;
    int32_t cpu, last_cpu;
    /* scheduling */
    int64_t priority;   /* smaller is better */
    int64_t queued;     /* order in which it became ready */
    int64_t kept_until; /* before that nobody takes its processor away */
    int64_t busy_until;
    double decayed;
    uint32_t spans[4];  /* random numbers of each span_kind so far */
    int64_t met_before; /* ns that the traced run waited for others in the call on a file that is under way */
};

#endif
