#ifndef SIM_H
#define SIM_H
/* State of a simulation; each struct says who owns its members. A simulation belongs to one thread at a time: functions
   that take a struct sim are for this thread alone. Times are ns from the start of the replay. */

#include "common/table.h"
#include "state/events.h"
#include "state/lane.h"
#include "state/thread.h"

struct comm;
struct cpus;
struct holders;
struct sim;
struct site;

struct rank {
    int32_t streams;
    struct table semaphores; /* by number */
    struct slot *slots;      /* of requests that several threads use */
};

struct app {
    const struct program *program;
    int32_t number, running, runs;
    int64_t began, first_op, first_stream;
    int32_t *first_of_rank; /* stream */
    struct thread *threads;
    struct slot *slots;             /* of all threads, then of all ranks */
    char *supplies;                 /* a struct supply for each thread */
    size_t buffered, supply_bytes;  /* of each buffer; of all that is there for one */
    size_t sendings, shapes, bytes; /* where in a supply they begin */
    unsigned places;
    struct comm *comms;
    struct rank *ranks;
};

/* Calls of rooms that stand above the caller. */
struct handlers {
    /* message_post: a thread ahead of the clock posts a receive. */
    struct receive *(*post)(struct sim *sim, struct thread *thread, struct moment posted);
    /* cpu_ready: a virtual thread has work. */
    void (*ready)(struct sim *sim, struct thread *thread);
};

/* Servers of files that had a request: heap of the times (ns) at which each becomes free. */
struct servers {
    int64_t *free;
    size_t n, room;
};

struct sim {
    struct handlers above;
    const struct machine *machine;
    struct output output;
    struct result *result;
    int32_t repetitions;
    int64_t now;
    uint32_t round;
    enum phase phase;
    struct events events;
    struct app *apps;
    int32_t n_apps, unfinished;
    struct cpus *nodes;
    struct site *sites;     /* of the nodes */
    struct plan end, share; /* of threads that have no more operations, of virtual ones */
    struct arena arena;
    struct pool messages, one_sided, receives, channels, named_channels, instances, children, accesses, locks,
        semaphores;
    struct table matching; /* the channels by name */
    struct table windows;  /* what is under way in them, and their locks */
    struct servers servers;
    /* network */
    struct resource *resources; /* the limited ones of the nodes, and behind them the buses of the networks */
    int32_t n_resources, first_bus;
    bool shared; /* threads of some node share its processors */
    bool ahead;  /* threads may be ahead of the clock: nobody asks what they do at a given time */
    struct lane between, inside;
    bool exclusive; /* a collective may hold the network */
    bool in_turn;   /* messages between nodes take one thing after the other: in_turn.c */
    struct holders *holders;
    int64_t sequence, in_flight, parked;
    int64_t queue, queue_since, longest_queue; /* messages that wait for the network; since then; the most so far */
    double queue_area;                         /* their sum over time, exact below 2^53 ns */
    int64_t cpu_waits;                         /* in the buffer of the output */
    struct instance *holding, **last_holding;  /* collectives that wait for the network or hold it */
    int64_t queued;
    uint32_t generations;
    struct moment scan; /* of the network, at the present time: nobody else has its phase */
    bool has_scan, failed;
    size_t turns;       /* events to come that are only a change of who runs */
    bool stuck;         /* all wait, and nothing is to come but turns */
    int64_t idle_turns; /* one after the other, in which nobody computed */
    /* DECAY: when intervals end, which of them do at this tick, and how often each, and last the tick, was drawn */
    int64_t interval_ends[INTERVALS];
    bool due[INTERVALS];
    uint32_t interval_draws[INTERVALS + 1];
};

/* `c` of the keys of what is in a window. */
enum { KEY_ACCESSES, KEY_LOCKS };

/* Return the key of a communicator or window in a run of an application. */
static inline uint64_t app_key(const struct app *app, int32_t comm)
{
    return (uint64_t)app->runs << 40 | (uint64_t)app->number << 32 | (uint32_t)comm;
}

/* Return the present moment. */
static inline struct moment moment_now(const struct sim *sim)
{
    return (struct moment){sim->now, sim->round << 8 | sim->phase};
}

/* Return the slot of the request that the thread's operation names. */
static inline struct slot *thread_slot(const struct thread *thread)
{
    const struct plan *plan = thread->plan;
    struct slot *slots = plan->shared ? thread->app->ranks[thread->rank].slots : thread->slots;
    return &slots[plan->request];
}

#endif
