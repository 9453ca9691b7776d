/* Adds events that are to come. */
#include "state/schedule.h"

#include "common/duration.h"
#include "state/fail.h"

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
