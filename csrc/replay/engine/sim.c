/* The simulation: what is to come, in order, until nothing is. */

#include "engine/internal/act.h"
#include "engine/internal/setup.h"
#include "machine/site.h"
#include "match/collective.h"
#include "match/message.h"
#include "network/network.h"
#include "state/channel.h"
#include "state/fail.h"
#include "state/schedule.h"
#include "threads/cpu.h"
#include "threads/cpu_wait.h"
#include "threads/policy.h"
#include "threads/running.h"

static bool sim_is_over(const struct sim *sim)
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
    if (!sim_is_over(sim)) schedule(sim, sim->now + policy_next_tick(sim), PHASE_TICK, NULL, 0);
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
    case PHASE_FILE:
        thread_wake(sim, event->what);
        break;
    case PHASE_MEET:
        message_met(sim, event->what);
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

/* Note what is left when no event is to come: threads that wait for ever, messages that nobody received. */
static void conclude(struct sim *sim)
{
    struct result *result = sim->result;
    for (int32_t a = 0; sim->apps && a < sim->n_apps; a++) {
        struct app *app = &sim->apps[a];
        for (int32_t k = 0; app->threads && k < app->program->n_streams; k++) {
            struct thread *thread = &app->threads[k];
            bool stuck = thread->state != THREAD_DONE && !sim->repetitions;
            if (stuck && !sim->failed)
                fail(sim, cpu_turns_for_ever(sim) ? REPLAY_TURNS : REPLAY_DEADLOCK, thread, NULL, -1);
            if (sim->repetitions && !sim->failed && thread->state != THREAD_DONE) thread_cut(sim, thread);
            if (sim->output.usage) sim->output.usage[app->first_stream + k] = thread->own;
            if (sim->output.blocked)
                sim->output.blocked[app->first_stream + k] = stuck ? thread->op_number - app->first_op : -1;
        }
    }
    result->unreceived = channels_unreceived(sim);
    cpu_waits_write(sim);
}

int replay_run(const struct machine *machine, const struct program *programs, int32_t n_programs, int32_t repetitions,
               const struct output *output, struct result *result)
{
    struct sim sim = {.above = {.post = message_post, .ready = cpu_ready},
                      .machine = machine,
                      .output = *output,
                      .result = result,
                      .repetitions = repetitions,
                      .n_apps = n_programs,
                      .unfinished = n_programs,
                      .end = {.kind = PLAN_END, .phase = PHASE_POST, .plain = true, .made = true, .simple = true},
                      .share = {.kind = PLAN_SHARE, .phase = PHASE_POST, .plain = true, .made = true, .simple = true},
                      .now = -1};
    *result = (struct result){.error = REPLAY_OK, .stream = -1, .op = -1, .other_stream = -1, .other_op = -1};
    if (!sim_init(&sim, programs)) fail(&sim, REPLAY_NO_MEMORY, NULL, NULL, -1);
    sim.now = 0;
    for (int32_t a = 0; a < n_programs && !sim.failed; a++) app_start(&sim, &sim.apps[a]);
    if (policy_ticks(&sim)) {
        policy_begin(&sim);
        schedule(&sim, policy_next_tick(&sim), PHASE_TICK, NULL, 0);
    }
    while (!sim.failed && !sim.stuck && (!repetitions || sim.unfinished) && !sim_is_over(&sim)) {
        struct event event;
        if (next_event(&sim, &event))
            handle(&sim, &event);
        else
            fail(&sim, REPLAY_NO_MEMORY, NULL, NULL, -1);
    }
    conclude(&sim);
    sim_free(&sim);
    return result->error;
}
