/* Links and buses. A message takes all that it needs at once or waits; those that wait are looked at in the order of
   their submission, and one that can start may pass one that cannot.

   A message that waits is parked at one resource that it found taken. Nobody looks at it before that resource is
   free again: until then it could not start anyway. So a scan costs what changed, not what waits. */
#include "network/network.h"

#include <stdlib.h>

#include "network/internal/in_turn.h"
#include "network/internal/queue.h"
#include "network/start.h"
#include "state/fail.h"
#include "state/instance.h"
#include "state/messages.h"
#include "state/profile.h"
#include "state/schedule.h"

static bool lane_init(struct sim *sim, struct lane *lane)
{
    lane->freed = arena_zeros(&sim->arena, (size_t)sim->n_resources, sizeof *lane->freed);
    lane->candidates = arena_zeros(&sim->arena, (size_t)sim->n_resources, sizeof *lane->candidates);
    return lane->freed && lane->candidates;
}

bool network_init(struct sim *sim)
{
    const struct machine *machine = sim->machine;
    if (!lane_init(sim, &sim->between) || !lane_init(sim, &sim->inside)) return false;
    sim->exclusive = machine->exclusive == 1;
    for (int32_t k = 0; k < machine->n_networks; k++)
        sim->exclusive |= machine->exclusive == 2 && machine->networks[k].buses > 0;
    sim->last_holding = &sim->holding;
    return in_turn_init(sim);
}

void network_free(struct sim *sim)
{
    for (int32_t k = 0; sim->resources && k < sim->n_resources; k++) free(sim->resources[k].parked.others);
    in_turn_free(sim);
    free(sim->between.fresh.others);
    free(sim->inside.fresh.others);
}

/* Count the messages that waited since the last count. */
void network_count(struct sim *sim)
{
    int64_t lasted = sim->now - sim->queue_since;
    if (!lasted) return;
    profile_note(sim, DOING_QUEUE, sim->queue_since, sim->now, sim->queue);
    sim->queue_since = sim->now;
    sim->queue_area += (double)sim->queue * (double)lasted;
    if (sim->queue > sim->longest_queue) sim->longest_queue = sim->queue;
}

/* Messages that are parked, and those that wait for a collective that holds the network. */
static void count_waiting(struct sim *sim)
{
    sim->queue = sim->parked + (int64_t)sim->between.fresh.n;
}

static void take_and_start(struct sim *sim, struct message *message)
{
    for (int k = 0; k < 3; k++)
        if (message->resource[k] >= 0) sim->resources[message->resource[k]].free--;
    start_message(sim, message);
}

static void start_or_park(struct sim *sim, struct message *message)
{
    for (int k = 0; k < 3; k++) {
        if (message->resource[k] < 0 || sim->resources[message->resource[k]].free > 0) continue;
        if (!queue_push(&sim->resources[message->resource[k]].parked, message))
            fail(sim, REPLAY_NO_MEMORY, NULL, NULL, -1);
        sim->parked++;
        return;
    }
    take_and_start(sim, message);
}

/* The next scan would look at this message, and nobody sees whether that is done now: nothing became free that others
   may take before it, no other can come that was submitted earlier, no collective can take the network, and no sender
   goes on at the start. */
static bool scanned_at_once(const struct sim *sim, const struct message *message)
{
    const struct lane *lane = message->inside ? &sim->inside : &sim->between;
    if (message->frees_at_start || ((sim->exclusive || sim->in_turn) && !message->inside)) return false;
    if (message->resource[0] < 0 && message->resource[1] < 0 && message->resource[2] < 0) return true;
    return sim->phase == PHASE_SUBMIT && !lane->n_freed && !lane->fresh.n;
}

void network_enter(struct sim *sim, struct message *message)
{
    if (scanned_at_once(sim, message)) {
        network_count(sim);
        start_or_park(sim, message);
        count_waiting(sim);
        return;
    }
    if (!queue_push(message->inside ? &sim->inside.fresh : &sim->between.fresh, message))
        fail(sim, REPLAY_NO_MEMORY, NULL, NULL, -1);
    schedule_scan(sim);
}

static void release_lane(struct sim *sim, struct lane *lane, int32_t number)
{
    struct resource *r = &sim->resources[number];
    r->free++;
    if (!r->parked.n || r->listed) return;
    r->listed = true;
    lane->freed[lane->n_freed++] = number;
    schedule_scan(sim);
}

void network_leave(struct sim *sim, struct message *message)
{
    if (sim->in_turn && !message->inside) {
        network_count(sim);
        in_turn_leave(sim, message);
        count_waiting(sim);
        return;
    }
    struct lane *lane = message->inside ? &sim->inside : &sim->between;
    for (int k = 0; k < 3; k++)
        if (message->resource[k] >= 0) release_lane(sim, lane, message->resource[k]);
    if (!message->inside && --sim->in_flight == 0 && sim->holding) schedule_scan(sim);
}

/* The freed resources during a scan: a heap by the sequence of the first message parked at each. None can become free
   in a scan, so one that was taken is dropped when its turn comes, whatever was parked at it since. */

static void candidate_push(struct lane *lane, int64_t sequence, int32_t number)
{
    struct candidate new = {sequence, number};
    size_t k = lane->n_candidates++;
    for (; k && new.sequence < lane->candidates[(k - 1) / 2].sequence; k = (k - 1) / 2)
        lane->candidates[k] = lane->candidates[(k - 1) / 2];
    lane->candidates[k] = new;
}

static int32_t candidate_pop(struct lane *lane)
{
    struct candidate *at = lane->candidates, top = at[0], last = at[--lane->n_candidates];
    size_t k = 0;
    for (size_t child; (child = 2 * k + 1) < lane->n_candidates; k = child) {
        if (child + 1 < lane->n_candidates && at[child + 1].sequence < at[child].sequence) child++;
        if (at[child].sequence > last.sequence) break;
        at[k] = at[child];
    }
    at[k] = last;
    return top.number;
}

static void push_if_candidate(struct lane *lane, const struct resource *r, int32_t number)
{
    if (r->free > 0 && r->parked.n) candidate_push(lane, r->parked.first.sequence, number);
}

static void list_candidates(struct sim *sim, struct lane *lane)
{
    for (; lane->n_freed; lane->n_freed--) {
        int32_t number = lane->freed[lane->n_freed - 1];
        sim->resources[number].listed = false;
        push_if_candidate(lane, &sim->resources[number], number);
    }
}

/* The first message that a lane has for a scan. */
static int64_t first_of(const struct lane *lane)
{
    int64_t fresh = lane->fresh.n ? lane->fresh.first.sequence : INT64_MAX;
    return lane->n_candidates && lane->candidates[0].sequence < fresh ? lane->candidates[0].sequence : fresh;
}

static void look_at_first(struct sim *sim, struct lane *lane)
{
    if (lane->fresh.n && !(lane->n_candidates && lane->candidates[0].sequence < lane->fresh.first.sequence)) {
        start_or_park(sim, queue_pop(&lane->fresh));
        return;
    }
    int32_t number = candidate_pop(lane);
    struct resource *r = &sim->resources[number];
    if (r->free <= 0) return;
    sim->parked--;
    start_or_park(sim, queue_pop(&r->parked));
    push_if_candidate(lane, r, number);
}

void network_scan(struct sim *sim)
{
    network_count(sim);
    if (sim->inside.n_freed) list_candidates(sim, &sim->inside);
    if (sim->in_turn)
        in_turn_scan(sim);
    else if (!sim->holding)
        list_candidates(sim, &sim->between);
    while (!sim->failed) {
        int64_t inside = first_of(&sim->inside), between = sim->holding ? INT64_MAX : first_of(&sim->between);
        if (inside == INT64_MAX && between == INT64_MAX) break;
        look_at_first(sim, inside < between ? &sim->inside : &sim->between);
    }
    bool starts = !sim->in_turn && sim->holding && !sim->in_flight && !sim->holding->running;
    if (starts) start_collective(sim, sim->holding);
    count_waiting(sim);
}

void network_collective_ended(struct sim *sim, struct instance *instance)
{
    if (instance->buses) {
        network_count(sim);
        in_turn_ended(sim, instance);
    } else if (sim->holding == instance) {
        sim->holding = instance->next_holding;
        if (!sim->holding) sim->last_holding = &sim->holding;
    } else {
        return;
    }
    schedule_scan(sim);
}
