/* Requests of all nodes to the servers of the file system: whoever asks first is served first. So it is known when a
   request is over as soon as it is asked for.

   Where the machine says nothing of files, a call on one lasts as long as in the traced run, less what it waited there
   for other ranks: how long it waits for them here follows from the replay. */
#include "match/file.h"

#include "common/array.h"
#include "common/duration.h"
#include "machine/cost.h"
#include "state/fail.h"
#include "state/schedule.h"
#include "threads/running.h"

/* Let the server at `at` become free at a time that is later than those above it say. */
static void sift_up(struct servers *servers, size_t at, int64_t free)
{
    for (; at && servers->free[(at - 1) / 2] > free; at = (at - 1) / 2) servers->free[at] = servers->free[(at - 1) / 2];
    servers->free[at] = free;
}

/* Replace the first one. */
static void sift_down_server(struct servers *servers, int64_t free)
{
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < servers->n; at = child) {
        child += child + 1 < servers->n && servers->free[child + 1] < servers->free[child];
        if (servers->free[child] >= free) break;
        servers->free[at] = servers->free[child];
    }
    servers->free[at] = free;
}

/* When a request is over that is asked for at `asked`, and takes a server for `ns`. */
static int64_t served(struct sim *sim, const struct thread *thread, int64_t asked, int64_t ns)
{
    struct servers *servers = &sim->servers;
    size_t most = (size_t)sim->machine->files.servers;
    if (!ns || !most) return asked + ns;
    bool new = servers->n < most;
    if (new && servers->n == servers->room && !ARRAY_GROW(servers->free, servers->room, 64)) {
        fail(sim, REPLAY_NO_MEMORY, thread, NULL, -1);
        return asked;
    }
    int64_t begins = new || servers->free[0] < asked ? asked : servers->free[0];
    int64_t over = begins < LONGEST ? begins + ns : LONGEST + 1;
    if (new)
        sift_up(servers, servers->n++, over);
    else
        sift_down_server(servers, over);
    return over;
}

/* The rest of a call that lasts as long as in the traced run. */
static int64_t rest_of(struct thread *thread)
{
    int64_t ns = thread->op->other - thread->met_before;
    thread->met_before = 0;
    return ns > 0 ? ns < LONGEST ? ns : LONGEST : 0;
}

static void wait_until(struct sim *sim, struct thread *thread, int64_t time)
{
    if (time <= sim->now) {
        thread_goes_on(sim, thread);
        return;
    }
    thread_block(sim, thread, WAIT_FILE);
    schedule(sim, time, PHASE_FILE, thread, 0);
}

void file_access(struct sim *sim, struct thread *thread)
{
    const struct op *op = thread->op;
    bool ends = op->flags & OP_OF_FILE, known = sim->machine->files.known;
    struct slot *slot = op->request >= 0 ? thread_slot(thread) : NULL;
    int64_t asked = ends && slot ? slot->file : sim->now;
    int64_t over = known ? served(sim, thread, asked, cost_file(sim, thread)) : sim->now + rest_of(thread);
    if (slot && !ends) slot->file = known ? over : sim->now;
    wait_until(sim, thread, known && slot && !ends ? sim->now : over);
}

void file_wait(struct sim *sim, struct thread *thread)
{
    wait_until(sim, thread, sim->machine->files.known ? thread_slot(thread)->file : sim->now + rest_of(thread));
}

void file_met(const struct instance *instance, struct thread *thread)
{
    int64_t waited = instance->entered - thread->op->other;
    thread->met_before = waited > 0 ? waited : 0;
}
