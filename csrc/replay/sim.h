#ifndef SIM_H
#define SIM_H
/* The state of a simulation; who owns what is said at each struct. */

#include "collective.h"
#include "cpu.h"
#include "network.h"
#include "thread.h"
#include "window.h"

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

/* Of a communicator or window in a run of an application. */
static inline uint64_t app_key(const struct app *app, int32_t comm)
{
    return (uint64_t)app->runs << 40 | (uint64_t)app->number << 32 | (uint32_t)comm;
}

static inline struct moment moment_now(const struct sim *sim)
{
    return (struct moment){sim->now, sim->round << 8 | sim->phase};
}

/* setup.c; sim_init is false: no memory */
bool sim_init(struct sim *sim, const struct program *programs);
void sim_free(struct sim *sim);
void app_start(struct sim *sim, struct app *app);

/* sim.c */
void schedule_scan(struct sim *sim); /* of the network, if none is to come */
void schedule(struct sim *sim, int64_t time, enum phase phase, void *what, uint32_t generation);
void schedule_at(struct sim *sim, struct moment moment, void *what, uint32_t generation);
void fail(struct sim *sim, enum replay_error error, const struct thread *thread, const struct thread *other,
          int64_t other_op);

/* profile.c: n more do something from one time to another, if anybody wants to know */
void profile_add(const struct sim *sim, enum doing what, int64_t from, int64_t to, int64_t n);
static inline void profile_note(const struct sim *sim, enum doing what, int64_t from, int64_t to, int64_t n)
{
    if (sim->output.profile && from < to) profile_add(sim, what, from, to, n);
}

/* cpu_wait.c: the thread waited for its processor until a time, if anybody wants to know; at the end the rest of them
   goes to the file */
void cpu_wait_add(struct sim *sim, const struct thread *thread, int64_t until);
void cpu_waits_write(struct sim *sim);
static inline void cpu_wait_note(struct sim *sim, const struct thread *thread, int64_t until)
{
    if (sim->output.cpu_waits && thread->since < until && !thread->parent) cpu_wait_add(sim, thread, until);
}

/* semaphore.c */
void semaphores_free(struct rank *rank);
void semaphore_wait(struct sim *sim, struct thread *thread);
void semaphore_signal(struct sim *sim, struct thread *thread);

#endif
