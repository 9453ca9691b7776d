#ifndef SIM_H
#define SIM_H
/* The state of a simulation; who owns what is said at each struct. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"
#include "replay.h"

struct sim;

struct cost {
    int64_t cpu, wire, hold; /* ns of the sender's processor, to the arrival, that links are taken */
};

/* Resources of a node. Half duplex: both links are OUT. */
enum resource_kind { OUT, IN, INTRA_OUT, INTRA_IN, INTRA_BUS, PER_NODE };

/* What operations need to know of a node, in one place. */
struct site {
    int64_t latency, intra_latency, wan_latency; /* ns; -1: drawn at each use */
    double speed;                                /* 0: drawn at each use */
    int32_t network;
    int32_t resources; /* the first of those that are limited */
    uint8_t limited;   /* bit k: there are not as many as wanted of enum resource_kind k */
    bool half_duplex;
    bool dedicated; /* each thread that lives there has its own processor */
};

enum waiting {
    WAIT_NOTHING,
    WAIT_MESSAGE,
    WAIT_SEND,
    WAIT_SEMAPHORE,
    WAIT_ACCESS,
    WAIT_MEMBERS,
    WAIT_COLLECTIVE,
    WAIT_CHILDREN
};

enum thread_state { THREAD_READY, THREAD_RUNNING, THREAD_BUSY, THREAD_BLOCKED, THREAD_DONE };

/* What a send and its receive have in common: (application and run, communicator), (source, destination), (tag, message
   where the trace names it). */
struct key {
    uint64_t a, b, c;
};

/* In a table: the first member of what it holds. */
struct entry {
    struct key key;
    struct entry *next;
};

struct table {
    struct entry **at;
    size_t n, room; /* a power of two */
};

enum { KEY_ACCESSES, KEY_LOCKS }; /* `c` of the keys of what is in a window */

/* Of one rank to a target, or to a window; while there are any. */
struct accesses {
    struct entry entry;
    int32_t n;
    struct thread *waiting; /* by their number */
};

/* Of a target; or of a window, where all of its targets are locked. */
struct lock {
    struct entry entry;
    struct lock *window; /* NULL: this is one */
    int32_t holders;
    int32_t exclusive; /* 1: the holder excludes others; of a window: how many of its targets' do */
    struct thread *first, **last;
    int32_t targets;                   /* of a window: how many of its locks there are */
    struct lock *listed, *last_listed; /* of a window: those of targets that somebody waits for */
    struct lock *before, *after;       /* in that list */
};

/* Alone in a line of the cache. */
struct receive {
    _Alignas(LINE) struct receive *next;
    struct thread *thread; /* that posted it, and may wait for it */
    int64_t op;
    struct moment posted;
    bool arrived, waited;
    bool access; /* it stands for the end of a one-sided operation */
};

/* What a nonblocking operation of a thread stands for until it is waited for. */
struct slot {
    struct receive *receive;
    struct instance *instance;
};

/* What an operation is to its thread, found when it does it first and kept while it repeats it. */
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
    bool settled : 1; /* the next three are known, and stay */
    bool rendezvous : 1, frees_at_start : 1, frees_at_arrival : 1;
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
    bool ahead;           /* of the clock, where nobody can see it: see alone.c */
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
    uint32_t spans[4]; /* random numbers of each span_kind so far */
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

struct parked {
    int64_t sequence;
    struct message *message;
};

/* By sequence: the first one, and a heap of the others. */
struct queue {
    struct parked first, *others;
    uint32_t n, room; /* all; the others that there is room for */
};

/* Links and buses of which there is a limited number. */
struct resource {
    int32_t free;
    bool listed;         /* among the freed ones of its lane */
    struct queue parked; /* those that found this one taken */
};

struct candidate {
    int64_t sequence;
    int32_t number;
};

/* Messages between nodes, and those inside of nodes, which no collective holds up. */
struct lane {
    int32_t *freed; /* resources, since the last scan, with messages parked at them */
    struct candidate *candidates;
    size_t n_freed, n_candidates;
    struct queue fresh; /* what no scan has looked at yet */
};

/* What random numbers are for: an operation of a thread, and how many it had. */
struct draws {
    uint64_t who, op, n;
};

struct instance {
    struct app *app;
    int32_t comm, operation, arrived;
    int64_t number;
    int64_t sent, received; /* the largest of any member */
    int64_t root_sent, root_received;
    bool complete, running, done, rooted;
    int32_t open;         /* members that have not waited for it yet */
    struct thread *first; /* whose call it was */
    int64_t first_op;
    struct draws draws; /* those of the call of the communicator's first member */
    struct thread *waiting, **last;
    struct instance *next, *next_holding;
};

struct comm {
    int64_t *made;                 /* per member: collectives that it has entered */
    struct instance *open, **last; /* in order of their number */
    const int32_t *members;
    int32_t *by_rank; /* members in order of their rank; NULL: they are */
    int32_t size;
};

struct semaphore {
    int64_t id;
    int64_t count;
    struct thread *waiting, **last;
    struct semaphore *next;
};

struct rank {
    int32_t streams;
    struct semaphore *semaphores;
    struct slot *slots; /* of requests that several threads use */
};

struct app {
    const struct program *program;
    int32_t number, running, runs;
    int64_t began, first_op, first_stream;
    int32_t *first_of_rank; /* stream */
    struct thread *threads;
    struct slot *slots;            /* of all threads, then of all ranks */
    char *supplies;                /* a struct supply and a buffer of packed operations for each thread */
    size_t buffered, supply_bytes; /* of each buffer; of both */
    struct comm *comms;
    struct rank *ranks;
};

struct cpu {
    struct thread *thread;
    uint64_t last; /* who had it last, if it was used */
    bool used;
};

/* Ready threads of a node, and its processors. */
struct cpus {
    struct cpu *at;
    int32_t n, busy;
    int64_t threads; /* that live on the node */
    bool asked;      /* a dispatch is to come at the present time */
    int64_t asked_at;
    struct thread **ready;
    size_t n_ready, room;
    double load;
    struct thread **residents; /* all threads of the node, but for virtual ones */
    int32_t n_residents;
};

struct sim {
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
    struct pool messages, one_sided, receives, channels, named_channels, instances, children, accesses, locks;
    struct table matching; /* the channels by name */
    struct table windows;  /* what is under way in them, and their locks */
    /* network */
    struct resource *resources; /* the limited ones of the nodes, and behind them the buses of the networks */
    int32_t n_resources, first_bus;
    bool shared; /* threads of some node share its processors */
    bool ahead;  /* threads may be ahead of the clock: nobody asks what they do at a given time */
    struct lane between, inside;
    bool exclusive; /* a collective may hold the network */
    int64_t sequence, in_flight, parked;
    int64_t queue, queue_since, longest_queue; /* messages that wait for the network; since then; the most so far */
    double queue_area;                         /* their sum over time, exact below 2^53 ns */
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

/* Of a communicator or window in a run of an application. */
static inline uint64_t app_key(const struct app *app, int32_t comm)
{
    return (uint64_t)app->runs << 40 | (uint64_t)app->number << 32 | (uint32_t)comm;
}

static inline struct moment moment_now(const struct sim *sim)
{
    return (struct moment){sim->now, sim->round << 8 | sim->phase};
}

/* sim.c */
void app_start(struct sim *sim, struct app *app);
void schedule_scan(struct sim *sim); /* of the network, if none is to come */
void schedule(struct sim *sim, int64_t time, enum phase phase, void *what, uint32_t generation);
void schedule_at(struct sim *sim, struct moment moment, void *what, uint32_t generation);
void fail(struct sim *sim, enum replay_error error, const struct thread *thread, const struct thread *other,
          int64_t other_op);

/* cost.c: ns of everything that the machine says; cost_constant is -1 where a time is random. cost_record: which
   operation of which run a random number is for. */
uint64_t cost_record(const struct thread *thread);
int64_t cost_constant(const struct quantity *seconds);
int64_t cost_span(const struct sim *sim, struct thread *thread, enum span_kind kind);
int64_t cost_quantum(const struct sim *sim, struct thread *thread, const struct span *quantum); /* drawn as a slice */
int64_t cost_interval(const struct sim *sim, const struct span *span, uint32_t *draws);         /* of no thread */
bool cost_is_large(const struct sim *sim, struct thread *thread, int64_t bytes);                /* for an eager send */
bool cost_is_plain(const struct sim *sim, const struct thread *thread, uint32_t block); /* of bursts: as measured */
int64_t cost_burst(const struct sim *sim, struct thread *thread, int64_t burst, uint32_t block);
bool cost_is_drawn(const struct sim *sim, int32_t from, int32_t to); /* that of messages */
struct cost cost_message(const struct sim *sim, struct thread *thread, int32_t from, int32_t to, int64_t bytes);
int64_t cost_receive(const struct sim *sim, struct thread *thread, int32_t from, int32_t to, int64_t bytes);
int64_t cost_collective(const struct sim *sim, const struct instance *instance);

/* profile.c: n more do something from one time to another, if anybody wants to know */
void profile_add(const struct sim *sim, enum doing what, int64_t from, int64_t to, int64_t n);
static inline void profile_note(const struct sim *sim, enum doing what, int64_t from, int64_t to, int64_t n)
{
    if (sim->output.profile && from < to) profile_add(sim, what, from, to, n);
}

/* site.c */
bool sites_init(struct sim *sim);

/* thread.c: what threads do */
void thread_act(struct sim *sim, struct thread *thread);
void thread_wake(struct sim *sim, struct thread *thread);
void thread_block(struct sim *sim, struct thread *thread, enum waiting why);
void thread_goes_on(struct sim *sim, struct thread *thread);
void thread_fetch_other(struct sim *sim, struct thread *thread, int64_t burst); /* see fetch.h */

/* plan.c: what operations are to their threads; plan_make is false: what it names does not exist */
bool plan_make(const struct sim *sim, struct thread *thread);
void plan_draw(const struct sim *sim, struct thread *thread);

/* alone.c: threads with a processor of their own */
void alone_run(struct sim *sim, struct thread *thread, struct moment begins);
void alone_wake(struct sim *sim, struct thread *thread);

/* cpu.c: who runs */
void cpu_ready(struct sim *sim, struct thread *thread);
void cpu_run(struct sim *sim, struct thread *thread);
void cpu_release(struct sim *sim, struct thread *thread);
void cpu_dispatch(struct sim *sim, struct cpus *node);
void cpu_slice(struct sim *sim, struct thread *thread);
void cpu_tick(struct sim *sim, struct cpus *node);
void cpu_count_turn(struct sim *sim);
bool cpu_turns_for_ever(const struct sim *sim);
void cpu_busy_ended(struct sim *sim, struct thread *thread);
bool cpu_spins(const struct thread *thread);
void cpu_reorder(struct sim *sim, struct thread *thread);

/* policy.c: who is better */
void policy_init(struct sim *sim, struct thread *thread);
bool policy_better(const struct thread *a, const struct thread *b);
int64_t policy_slice(const struct sim *sim, struct thread *thread);
void policy_slice_used(struct sim *sim, struct thread *thread);
void policy_slept(struct sim *sim, struct thread *thread);
void policy_received(struct sim *sim, struct thread *receiver, bool receiver_first);
void policy_says(struct sim *sim, struct thread *thread, int64_t priority);
bool policy_ticks(const struct sim *sim);
int64_t policy_next_tick(struct sim *sim);
void policy_begin(struct sim *sim);     /* its intervals */
void policy_intervals(struct sim *sim); /* at a tick, before the nodes: which of them end */
void policy_tick(struct sim *sim, struct cpus *node);

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

/* network.c: links, buses and who waits for them */
bool network_init(struct sim *sim);
void network_resources(const struct sim *sim, int32_t from, int32_t to, int32_t *resource);
void network_enter(struct sim *sim, struct message *message);
void network_leave(struct sim *sim, struct message *message);
void network_scan(struct sim *sim);
void network_count(struct sim *sim);
void network_free(struct sim *sim);

/* collective.c */
bool comm_init(struct sim *sim, struct comm *comm, const int32_t *members, int64_t n);
void collective_enter(struct sim *sim, struct thread *thread);
void collective_wait(struct sim *sim, struct thread *thread, struct instance *instance);
void collective_start(struct sim *sim, struct instance *instance);
void collective_ended(struct sim *sim, struct instance *instance);

/* table.c: entries are their owners', the first member of what comes from a pool, zeroed. table_find_or_add is NULL: no
   memory */
void *table_find(const struct table *table, const struct key *key);
void *table_find_or_add(struct table *table, const struct key *key, struct pool *pool);
void table_remove(struct table *table, const struct entry *entry);

/* access.c; access_begin is false: no memory */
bool access_begin(struct sim *sim, const struct thread *thread, struct access *access);
void access_over(struct sim *sim, struct access *access);
void access_wait(struct sim *sim, struct thread *thread);

/* lock.c */
void lock_take(struct sim *sim, struct thread *thread);
void lock_give(struct sim *sim, struct thread *thread);

/* semaphore.c */
void semaphores_free(struct rank *rank);
void semaphore_wait(struct sim *sim, struct thread *thread);
void semaphore_signal(struct sim *sim, struct thread *thread);

#endif
