/* Set-up and release of a simulation: applications, their threads, processors of nodes, and memory. */
#include "engine/internal/setup.h"

#include <stdlib.h>

#include "machine/resources.h"
#include "machine/site.h"
#include "match/access.h"
#include "match/arrivals.h"
#include "match/collective.h"
#include "match/lock.h"
#include "match/semaphore.h"
#include "network/network.h"
#include "packed/fetch.h"
#include "threads/cpu.h"
#include "threads/policy.h"

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
    for (int32_t k = 0; k < app->program->n_ranks; k++) semaphores_forget(sim, &app->ranks[k]); /* of the run before */
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
    size_t message = sim->machine->by_arrival ? sizeof(struct routed) : sizeof(struct message);
    sim->messages = (struct pool){message, NULL, &sim->arena};
    sim->one_sided = (struct pool){sizeof(struct access), NULL, &sim->arena};
    sim->receives = (struct pool){sizeof(struct receive), NULL, &sim->arena};
    sim->channels = (struct pool){sizeof(struct channel), NULL, &sim->arena};
    sim->named_channels = (struct pool){sizeof(struct named_channel), NULL, &sim->arena};
    sim->instances = (struct pool){sizeof(struct instance), NULL, &sim->arena};
    sim->children = (struct pool){sizeof(struct thread), NULL, &sim->arena};
    sim->accesses = (struct pool){sizeof(struct accesses), NULL, &sim->arena};
    sim->locks = (struct pool){sizeof(struct lock), NULL, &sim->arena};
    sim->semaphores = (struct pool){sizeof(struct semaphore), NULL, &sim->arena};
    sim->events.pool = (struct pool){sizeof(struct event), NULL, &sim->arena};
}

bool sim_init(struct sim *sim, const struct program *programs)
{
    memory_init(sim, programs);
    const struct policy *policy = &sim->machine->policy;
    sim->ahead = !sim->repetitions && is_no_span(&policy->spans[SPAN_BUSY_WAIT]) && policy->priority != PRIORITY_BOOST;
    sim->nodes = arena_zeros(&sim->arena, (size_t)sim->machine->n_nodes, sizeof *sim->nodes);
    sim->apps = arena_zeros(&sim->arena, (size_t)sim->n_apps, sizeof *sim->apps);
    int64_t streams = 0, ops = 0;
    if (!sim->nodes || !sim->apps || !sites_init(sim) || !resources_init(sim) || !network_init(sim)) return false;
    for (int32_t a = 0; a < sim->n_apps; a++) {
        struct app *app = &sim->apps[a];
        *app = (struct app){.program = &programs[a], .number = a, .first_op = ops, .first_stream = streams};
        if (!app_init(sim, app)) return false;
        ops += programs[a].offsets[programs[a].n_streams];
        streams += programs[a].n_streams;
    }
    if (sim->output.transfers)
        for (int64_t k = 0; k < ops; k++) sim->output.transfers[k] = (struct transfer){-1, -1, -1, -1, -1};
    return nodes_init(sim);
}

void sim_free(struct sim *sim)
{
    for (int32_t a = 0; sim->apps && a < sim->n_apps; a++) {
        struct app *app = &sim->apps[a];
        for (int32_t k = 0; app->ranks && k < app->program->n_ranks; k++) semaphores_forget(sim, &app->ranks[k]);
    }
    for (int32_t k = 0; sim->nodes && k < sim->machine->n_nodes; k++) free(sim->nodes[k].ready);
    network_free(sim);
    free(sim->servers.free);
    free(sim->windows.at);
    free(sim->matching.at);
    free(sim->events.crowd.at);
    arena_free(&sim->arena);
}
