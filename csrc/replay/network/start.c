/* Messages and collectives start: it is known when they are over. */
#include "network/start.h"

#include "machine/cost.h"
#include "state/messages.h"
#include "state/profile.h"
#include "state/schedule.h"
#include "threads/running.h"

void start_message(struct sim *sim, struct message *message)
{
    sim->in_flight += !message->inside && !sim->in_turn;
    if (sim->in_turn) {
        message->by_start = true;
        message->sequence = ++sim->sequence;
    }
    int64_t arrives = sim->now + message->wire;
    if (message->hold != message->wire) {
        message->overlong = message->held = true;
        schedule(sim, sim->now + message->hold, PHASE_FREE, message, 0);
    }
    schedule(sim, arrives, PHASE_ARRIVE, message, 0);
    if (sim->output.transfers) sim->output.transfers[message->op].start = sim->now;
    if (message->frees_at_start) thread_wake(sim, message->sender);
}

void start_collective(struct sim *sim, struct instance *instance)
{
    instance->running = true;
    for (struct thread *thread = instance->waiting; thread; thread = thread->next) {
        thread->usage->wait_members += sim->now - thread->since;
        profile_note(sim, DOING_COLLECTIVES, thread->since, sim->now, 1);
        thread->since = sim->now;
        thread->waits = WAIT_COLLECTIVE;
    }
    int64_t ns = instance->of_file ? 0 : cost_collective(sim, instance); /* who meets for a file sends nothing */
    schedule(sim, sim->now + ns, PHASE_ENDED, instance, 0);
}
