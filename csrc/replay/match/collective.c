/* Collectives: all members wait for the last, then all go on at the same instant (sections 3.5.2 and 3.5.3). */

#define _GNU_SOURCE /* qsort_r */
#include "match/collective.h"

#include <stdlib.h>

#include "machine/cost.h"
#include "machine/resources.h"
#include "match/file.h"
#include "network/network.h"
#include "network/start.h"
#include "state/fail.h"
#include "state/schedule.h"
#include "threads/running.h"

static int compare_members(const void *a, const void *b, void *members)
{
    int32_t x = ((const int32_t *)members)[*(const int32_t *)a], y = ((const int32_t *)members)[*(const int32_t *)b];
    return x < y ? -1 : x > y;
}

bool comm_init(struct sim *sim, struct comm *comm, const int32_t *members, int64_t n)
{
    bool ascending = true;
    comm->members = members;
    comm->size = (int32_t)n;
    comm->last = &comm->open;
    comm->made = arena_zeros(&sim->arena, (size_t)n, sizeof *comm->made);
    if (!comm->made) return false;
    for (int64_t i = 1; i < n; i++) ascending &= members[i - 1] < members[i];
    if (ascending) return true;
    comm->by_rank = arena_zeros(&sim->arena, (size_t)n, sizeof *comm->by_rank);
    if (!comm->by_rank) return false;
    for (int32_t i = 0; i < n; i++) comm->by_rank[i] = i;
    qsort_r(comm->by_rank, (size_t)n, sizeof *comm->by_rank, compare_members, (void *)members);
    return true;
}

/* The instance that the next call of the member belongs to, made if it is the first member there. */
static struct instance *instance_of(struct sim *sim, struct thread *thread, struct comm *comm, int32_t member)
{
    int64_t number = comm->made[member]++;
    struct instance *instance = comm->open;
    while (instance && instance->number < number) instance = instance->next;
    if (instance) return instance;
    instance = pool_take(&sim->instances);
    if (!instance) {
        fail(sim, REPLAY_NO_MEMORY, thread, NULL, -1);
        return NULL;
    }
    *instance = (struct instance){.app = thread->app,
                                  .comm = thread->op->comm,
                                  .number = number,
                                  .operation = thread->op->tag,
                                  .first = thread,
                                  .first_op = thread->op_number,
                                  .last = &instance->waiting};
    *comm->last = instance;
    comm->last = &instance->next;
    return instance;
}

/* Position of a rank in the communicator, -1: it is no member. */
static int32_t member_of(const struct comm *comm, int32_t rank)
{
    int32_t low = 0, high = comm->size;
    while (low < high) {
        int32_t middle = low + (high - low) / 2, at = comm->by_rank ? comm->by_rank[middle] : middle;
        if (comm->members[at] == rank) return at;
        if (comm->members[at] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static void note_sizes(struct instance *instance, struct thread *thread, bool as_dimemas)
{
    const struct op *op = thread->op;
    if (op->flags & OP_OF_FILE) {
        instance->of_file = true;
        if (op->other > instance->entered) instance->entered = op->other;
        return;
    }
    if (op->peer == thread->rank && op->kind == OP_COLLECTIVE) instance->root = thread;
    if (op->bytes > instance->sent) instance->sent = op->bytes;
    if (op->other > instance->received) instance->received = op->other;
    if (as_dimemas) {
        instance->root_sent = op->bytes;
        instance->root_received = op->other;
    } else if (op->peer == thread->rank) {
        instance->rooted = true;
        instance->root_sent = op->bytes;
        instance->root_received = op->other;
    } else if (!instance->rooted) { /* a trace may say who is root on the root only */
        instance->root_sent = instance->sent;
        instance->root_received = instance->received;
    }
}

static bool holds_network(const struct sim *sim, const struct instance *instance)
{
    if (sim->machine->exclusive != 2) return sim->machine->exclusive;
    return sim->machine->networks[resources_network(sim, instance)].buses > 0;
}

static void all_there(struct sim *sim, struct instance *instance)
{
    instance->complete = true;
    if (instance->of_file || !holds_network(sim, instance)) {
        start_collective(sim, instance);
        return;
    }
    instance->sequence = ++sim->sequence;
    *sim->last_holding = instance;
    sim->last_holding = &instance->next_holding;
    schedule_scan(sim);
}

static void forget_instance(struct sim *sim, struct instance *instance)
{
    struct comm *comm = &instance->app->comms[instance->comm];
    struct instance **at = &comm->open;
    while (*at != instance) at = &(*at)->next;
    *at = instance->next;
    if (comm->last == &instance->next) comm->last = at;
    pool_give(&sim->instances, instance);
}

/* By rank: who wakes first is first in the queue for a processor. */
static struct thread *sorted(struct thread *list)
{
    if (!list || !list->next) return list;
    struct thread *middle = list, *end = list->next;
    while (end && (end = end->next)) {
        middle = middle->next;
        end = end->next;
    }
    struct thread *b = middle->next, *merged, **last = &merged;
    middle->next = NULL;
    struct thread *a = sorted(list);
    b = sorted(b);
    while (a && b) {
        struct thread **least = a->who < b->who ? &a : &b;
        *last = *least;
        last = &(*least)->next;
        *least = (*least)->next;
    }
    *last = a ? a : b;
    return merged;
}

/* Dimemas: as they came, the root last. */
static struct thread *with_root_last(struct instance *instance)
{
    struct thread *root = instance->root;
    if (!root || instance->last == &root->next) return instance->waiting;
    struct thread **at = &instance->waiting;
    while (*at && *at != root) at = &(*at)->next;
    if (!*at) return instance->waiting;
    *at = root->next;
    *instance->last = root;
    root->next = NULL;
    return instance->waiting;
}

void collective_ended(struct sim *sim, struct instance *instance)
{
    instance->done = true;
    if (sim->shared)
        instance->waiting = sim->machine->as_dimemas ? with_root_last(instance) : sorted(instance->waiting);
    network_collective_ended(sim, instance);
    for (struct thread *next, *thread = instance->waiting; thread; thread = next) {
        next = thread->next;
        instance->open--;
        if (instance->of_file) file_met(instance, thread);
        thread_wake(sim, thread);
    }
    if (!instance->open) forget_instance(sim, instance);
}

void collective_enter(struct sim *sim, struct thread *thread)
{
    const struct op *op = thread->op;
    struct comm *comm = &thread->app->comms[op->comm];
    int32_t member = member_of(comm, thread->rank);
    if (member < 0) {
        fail(sim, REPLAY_BAD_OP, thread, NULL, -1);
        return;
    }
    struct instance *instance = instance_of(sim, thread, comm, member);
    if (!instance) return;
    if (instance->operation != op->tag) {
        fail(sim, REPLAY_MISMATCH, thread, instance->first, instance->first_op);
        return;
    }
    note_sizes(instance, thread, sim->machine->as_dimemas);
    if (member == 0) instance->draws = (struct draws){thread->who, cost_record(thread), 0};
    instance->open++;
    bool last = ++instance->arrived == comm->size;
    if (op->kind == OP_COLLECTIVE) {
        thread->next = NULL;
        *instance->last = thread;
        instance->last = &thread->next;
        thread_block(sim, thread, WAIT_MEMBERS);
    } else {
        thread_slot(thread)->instance = instance;
    }
    if (last) all_there(sim, instance);
    if (op->kind == OP_COLLECTIVE_START) thread_goes_on(sim, thread);
}

/* The wait for a collective that was started before. */
void collective_wait(struct sim *sim, struct thread *thread, struct instance *instance)
{
    if (instance->done) {
        if (instance->of_file) file_met(instance, thread);
        if (!--instance->open) forget_instance(sim, instance);
        thread_goes_on(sim, thread);
        return;
    }
    thread->next = NULL;
    *instance->last = thread;
    instance->last = &thread->next;
    thread_block(sim, thread, instance->running ? WAIT_COLLECTIVE : WAIT_MEMBERS);
}
