/* The simulation: what is to come, in order, until nothing is. */

#include <stdlib.h>

#include "fetch.h"

/* Only a change of who runs. */
static bool is_turn(enum phase phase)
{
    return phase == PHASE_SLICE || phase == PHASE_DISPATCH || phase == PHASE_TICK;
}

/* It is never, or later than a replay may last. */
static void schedule_never(struct sim *sim, enum phase phase)
{
    bool endless = is_turn(phase) || phase == PHASE_BUSY; /* slices and busy waiting may be */
    if (!endless) fail(sim, REPLAY_TOO_LONG, NULL, NULL, -1);
}

void schedule_at(struct sim *sim, struct moment moment, void *what, uint32_t generation)
{
    enum phase phase = (enum phase)(moment.order & 255);
    if (moment.time > LONGEST) {
        schedule_never(sim, phase);
        return;
    }
    sim->turns += is_turn(phase);
    if (!events_add(&sim->events, moment, what, generation)) fail(sim, REPLAY_NO_MEMORY, NULL, NULL, -1);
}

void schedule(struct sim *sim, int64_t time, enum phase phase, void *what, uint32_t generation)
{
    schedule_at(sim, moment_after(moment_now(sim), time - sim->now, phase), what, generation);
}

void schedule_scan(struct sim *sim)
{
    if (sim->has_scan) return;
    sim->scan = moment_after(moment_now(sim), 0, PHASE_NETWORK);
    sim->has_scan = true;
}

void fail(struct sim *sim, enum replay_error error, const struct thread *thread, const struct thread *other,
          int64_t other_op)
{
    struct result *result = sim->result;
    if (sim->failed) return;
    sim->failed = true;
    *result = (struct result){
        .end = sim->now, .error = error, .stream = -1, .op = -1, .other_stream = -1, .other_op = other_op};
    if (thread) {
        result->application = thread->app->number;
        result->stream = thread->stream;
        result->op = thread->op_number - thread->app->first_op;
    }
    if (other) {
        result->other_stream = other->stream;
        result->other_op -= thread->app->first_op;
    }
}

static bool is_over(const struct sim *sim)
{
    return !sim->has_scan && !sim->events.n;
}

/* The scan is at the present time: what is in the wheels comes later, and they do not turn for it. */
static bool is_scan_first(struct sim *sim)
{
    if (!sim->has_scan || !events_are_near(&sim->events)) return sim->has_scan;
    const struct event *first = events_first(&sim->events);
    return moment_before(sim->scan, (struct moment){first->time, first->order});
}

/* Take the first event. false: no memory. */
static bool next_event(struct sim *sim, struct event *event)
{
    if (is_scan_first(sim)) {
        sim->has_scan = false;
        *event = (struct event){.time = sim->scan.time, .order = sim->scan.order};
        return true;
    }
    if (!events_first(&sim->events)) return false;
    *event = events_take(&sim->events);
    return true;
}

static void tick(struct sim *sim)
{
    policy_intervals(sim);
    for (int32_t k = 0; k < sim->machine->n_nodes; k++)
        if (!sim->sites[k].dedicated) cpu_tick(sim, &sim->nodes[k]);
    cpu_count_turn(sim);
    if (!is_over(sim)) schedule(sim, sim->now + policy_next_tick(sim), PHASE_TICK, NULL, 0);
}

static void thread_event(struct sim *sim, const struct event *event, struct thread *thread)
{
    if (event->generation != thread->generation) return;
    if (sim->phase == PHASE_SLICE) {
        cpu_slice(sim, thread);
    } else if (sim->phase == PHASE_BUSY) {
        bool same = thread->state == THREAD_BUSY && thread->busy_until == sim->now;
        if (same) cpu_busy_ended(sim, thread);
    } else {
        thread->remaining = thread->switching = 0;
        thread_act(sim, thread);
    }
}

static void handle(struct sim *sim, const struct event *event)
{
    sim->now = event->time;
    sim->round = event->order >> 8;
    sim->phase = (enum phase)(event->order & 255);
    sim->result->events++;
    sim->turns -= is_turn(sim->phase);
    switch (sim->phase) {
    case PHASE_ARRIVE:
        message_arrived(sim, event->what);
        break;
    case PHASE_FREE:
        message_freed(sim, event->what);
        break;
    case PHASE_ENDED:
        collective_ended(sim, event->what);
        break;
    case PHASE_MEET:
        network_enter(sim, event->what);
        break;
    case PHASE_NETWORK:
        network_scan(sim);
        break;
    case PHASE_TICK:
        tick(sim);
        break;
    case PHASE_DISPATCH:
        cpu_dispatch(sim, event->what);
        break;
    default:
        thread_event(sim, event, event->what);
    }
}

/* ---- Applications and what they need. */

static void thread_start(struct sim *sim, struct app *app, int32_t stream)
{
    const struct program *program = app->program;
    struct thread *thread = &app->threads[stream];
    struct slot *slots = thread->slots;
    struct usage usage = thread->own; /* of the runs before */
    *thread =
        (struct thread){.app = app, .stream = stream, .rank = program->rank[stream], .slots = slots, .own = usage};
    thread->number = program->thread[stream];
    thread->usage = &thread->own;
    thread->op_number = app->first_op + program->offsets[stream];
    thread->node = program->node[thread->rank];
    thread->alone = sim->sites[thread->node].dedicated;
    supply_open(sim, thread);
    thread->who = (uint64_t)app->number << 48 | (uint64_t)(uint32_t)thread->rank << 16 | (uint64_t)thread->number;
    thread->cpu = thread->last_cpu = -1;
    thread->generation = ++sim->generations;
    policy_init(sim, thread);
    thread->ahead = sim->ahead && thread->alone && app->ranks[thread->rank].streams == 1;
    if (!thread->alone) cpu_ready(sim, thread); /* before the virtual threads of its first operation */
    thread_fetch(sim, thread);
    if (thread->alone) cpu_ready(sim, thread);
}

void app_start(struct sim *sim, struct app *app)
{
    app->began = sim->now;
    app->running = app->program->n_streams;
    for (int32_t k = 0; k < app->program->n_ranks; k++) semaphores_free(&app->ranks[k]); /* of the run before */
    for (int32_t k = 0; k < app->program->n_streams && !sim->failed; k++) thread_start(sim, app, k);
}

static bool app_init(struct sim *sim, struct app *app)
{
    const struct program *p = app->program;
    struct arena *arena = &sim->arena;
    int64_t slots = 0;
    for (int32_t k = 0; k < p->n_streams; k++) slots += p->slots[k];
    for (int32_t k = 0; p->shared_slots && k < p->n_ranks; k++) slots += p->shared_slots[k];
    app->threads = arena_zeros(arena, (size_t)p->n_streams, sizeof *app->threads);
    app->slots = arena_zeros(arena, (size_t)slots, sizeof *app->slots);
    app->comms = arena_zeros(arena, (size_t)p->n_comms, sizeof *app->comms);
    app->ranks = arena_zeros(arena, (size_t)p->n_ranks, sizeof *app->ranks);
    app->first_of_rank = arena_zeros(arena, (size_t)p->n_ranks, sizeof *app->first_of_rank);
    if (!app->threads || !app->slots || !app->comms || !app->ranks || !app->first_of_rank) return false;
    for (int32_t k = p->n_ranks; p->shared_slots && k-- > 0;)
        app->ranks[k].slots = app->slots + (slots -= p->shared_slots[k]);
    for (int32_t k = p->n_streams; k-- > 0;) {
        struct thread *thread = &app->threads[k];
        thread->slots = app->slots + (slots -= p->slots[k]);
        app->first_of_rank[p->rank[k]] = k;
        app->ranks[p->rank[k]].streams++;
        sim->nodes[p->node[p->rank[k]]].threads += p->virtual_threads > 1 ? p->virtual_threads : 1;
    }
    if (!supply_init(sim, app)) return false;
    for (int32_t k = 0; k < p->n_comms; k++)
        if (!comm_init(sim, &app->comms[k], p->members + p->comm_offsets[k],
                       p->comm_offsets[k + 1] - p->comm_offsets[k]))
            return false;
    return true;
}

static bool nodes_init(struct sim *sim)
{
    for (int32_t k = 0; k < sim->machine->n_nodes; k++) {
        struct cpus *node = &sim->nodes[k];
        node->n = sim->machine->nodes[k].cpus;
        sim->sites[k].dedicated = node->threads <= node->n;
        if (sim->sites[k].dedicated) continue;
        sim->shared = true;
        node->at = arena_zeros(&sim->arena, (size_t)node->n, sizeof *node->at);
        node->residents = arena_zeros(&sim->arena, (size_t)node->threads, sizeof *node->residents);
        if (!node->at || !node->residents) return false;
    }
    for (int32_t a = 0; a < sim->n_apps; a++) {
        const struct program *p = sim->apps[a].program;
        for (int32_t k = 0; k < p->n_streams; k++) {
            int32_t number = p->node[p->rank[k]];
            struct cpus *node = &sim->nodes[number];
            if (!sim->sites[number].dedicated) node->residents[node->n_residents++] = &sim->apps[a].threads[k];
        }
    }
    return true;
}

static bool is_no_span(const struct span *span)
{
    return !span->ns && span->drawn.law == LAW_CONSTANT;
}

enum { OF_A_STREAM = 2048 }; /* bytes that one takes, about, besides its operations */

static void memory_init(struct sim *sim, const struct program *programs)
{
    size_t streams = 0;
    for (int32_t a = 0; a < sim->n_apps; a++) streams += (size_t)programs[a].n_streams;
    arena_open(&sim->arena, streams * OF_A_STREAM);
    sim->messages = (struct pool){sizeof(struct message), NULL, &sim->arena};
    sim->one_sided = (struct pool){sizeof(struct access), NULL, &sim->arena};
    sim->receives = (struct pool){sizeof(struct receive), NULL, &sim->arena};
    sim->channels = (struct pool){sizeof(struct channel), NULL, &sim->arena};
    sim->named_channels = (struct pool){sizeof(struct named_channel), NULL, &sim->arena};
    sim->instances = (struct pool){sizeof(struct instance), NULL, &sim->arena};
    sim->children = (struct pool){sizeof(struct thread), NULL, &sim->arena};
    sim->accesses = (struct pool){sizeof(struct accesses), NULL, &sim->arena};
    sim->locks = (struct pool){sizeof(struct lock), NULL, &sim->arena};
    sim->events.pool = (struct pool){sizeof(struct event), NULL, &sim->arena};
}

static bool init(struct sim *sim, const struct program *programs)
{
    memory_init(sim, programs);
    const struct policy *policy = &sim->machine->policy;
    sim->ahead = !sim->repetitions && is_no_span(&policy->spans[SPAN_BUSY_WAIT]) && policy->priority != PRIORITY_BOOST;
    sim->nodes = arena_zeros(&sim->arena, (size_t)sim->machine->n_nodes, sizeof *sim->nodes);
    sim->apps = arena_zeros(&sim->arena, (size_t)sim->n_apps, sizeof *sim->apps);
    int64_t streams = 0, ops = 0;
    if (!sim->nodes || !sim->apps || !sites_init(sim) || !network_init(sim)) return false;
    for (int32_t a = 0; a < sim->n_apps; a++) {
        struct app *app = &sim->apps[a];
        *app = (struct app){.program = &programs[a], .number = a, .first_op = ops, .first_stream = streams};
        if (!app_init(sim, app)) return false;
        ops += programs[a].offsets[programs[a].n_streams];
        streams += programs[a].n_streams;
    }
    if (sim->output.transfers)
        for (int64_t k = 0; k < ops; k++) sim->output.transfers[k] = (struct transfer){-1, -1, -1, -1};
    return nodes_init(sim);
}

static void release(struct sim *sim)
{
    for (int32_t a = 0; sim->apps && a < sim->n_apps; a++) {
        struct app *app = &sim->apps[a];
        for (int32_t k = 0; app->ranks && k < app->program->n_ranks; k++) semaphores_free(&app->ranks[k]);
    }
    for (int32_t k = 0; sim->nodes && k < sim->machine->n_nodes; k++) free(sim->nodes[k].ready);
    network_free(sim);
    free(sim->windows.at);
    free(sim->matching.at);
    free(sim->events.crowd.at);
    arena_free(&sim->arena);
}

/* What is left when nothing is to come: threads that wait for ever, messages that nobody received. */
static void conclude(struct sim *sim)
{
    struct result *result = sim->result;
    for (int32_t a = 0; sim->apps && a < sim->n_apps; a++) {
        struct app *app = &sim->apps[a];
        for (int32_t k = 0; app->threads && k < app->program->n_streams; k++) {
            const struct thread *thread = &app->threads[k];
            bool stuck = thread->state != THREAD_DONE && !sim->repetitions;
            if (stuck && !sim->failed)
                fail(sim, cpu_turns_for_ever(sim) ? REPLAY_TURNS : REPLAY_DEADLOCK, thread, NULL, -1);
            if (sim->output.usage) sim->output.usage[app->first_stream + k] = thread->own;
            if (sim->output.blocked)
                sim->output.blocked[app->first_stream + k] = stuck ? thread->op_number - app->first_op : -1;
        }
    }
    result->unreceived = channels_unreceived(sim);
}

int replay_run(const struct machine *machine, const struct program *programs, int32_t n_programs, int32_t repetitions,
               const struct output *output, struct result *result)
{
    struct sim sim = {.machine = machine,
                      .output = *output,
                      .result = result,
                      .repetitions = repetitions,
                      .n_apps = n_programs,
                      .unfinished = n_programs,
                      .end = {.kind = PLAN_END, .phase = PHASE_POST, .plain = true, .made = true, .simple = true},
                      .share = {.kind = PLAN_SHARE, .phase = PHASE_POST, .plain = true, .made = true, .simple = true},
                      .now = -1};
    *result = (struct result){.error = REPLAY_OK, .stream = -1, .op = -1, .other_stream = -1, .other_op = -1};
    if (!init(&sim, programs)) fail(&sim, REPLAY_NO_MEMORY, NULL, NULL, -1);
    sim.now = 0;
    for (int32_t a = 0; a < n_programs && !sim.failed; a++) app_start(&sim, &sim.apps[a]);
    if (policy_ticks(&sim)) {
        policy_begin(&sim);
        schedule(&sim, policy_next_tick(&sim), PHASE_TICK, NULL, 0);
    }
    while (!sim.failed && !sim.stuck && (!repetitions || sim.unfinished) && !is_over(&sim)) {
        struct event event;
        if (next_event(&sim, &event))
            handle(&sim, &event);
        else
            fail(&sim, REPLAY_NO_MEMORY, NULL, NULL, -1);
    }
    conclude(&sim);
    release(&sim);
    return result->error;
}
