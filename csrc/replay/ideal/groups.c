/* Collectives: all members wait for the last, then all go on at the same instant. */
#include "ideal/internal/groups.h"

#include <stdlib.h>

#include "common/duration.h"

/* A communicator, as far as it is ours. */
struct group {
    int32_t *members;   /* of this process, ascending */
    int64_t *entered;   /* by each of them */
    int32_t *processes; /* the others that have members */
    int32_t n_members, n_processes;
    struct gathering *open; /* in order of their number */
};

/* A collective under way. */
struct gathering {
    struct gathering *next;
    struct group *group;
    int64_t number, time; /* time: when the last member so far entered it */
    int64_t entered;      /* the same in the traced run, of those that meet for a file */
    bool of_file;
    int32_t operation, arrived, told;
    int32_t left; /* members of ours that it is not over for */
    bool done;
    struct rank_at *waiting, **last;
};

static int by_rank(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

/* Our members, and the processes of the others. `seen`: by process. */
static bool group_init(struct ideal *ideal, struct group *group, const int32_t *members, int64_t n, int32_t *seen,
                       int32_t mark)
{
    for (int64_t i = 0; i < n; i++) {
        int32_t process = own_rank(ideal, members[i]) ? ideal->own : process_of(ideal, members[i]);
        group->n_members += process == ideal->own;
        group->n_processes += process != ideal->own && seen[process] != mark;
        seen[process] = mark;
    }
    if (!group->n_members) return true;
    group->members = arena_zeros(&ideal->arena, (size_t)group->n_members, sizeof *group->members);
    group->entered = arena_zeros(&ideal->arena, (size_t)group->n_members, sizeof *group->entered);
    group->processes = arena_zeros(&ideal->arena, (size_t)group->n_processes + 1, sizeof *group->processes);
    if (!group->members || !group->entered || !group->processes) return false;
    int32_t ours = 0, others = 0;
    for (int64_t i = 0; i < n; i++)
        if (own_rank(ideal, members[i])) group->members[ours++] = members[i];
    for (int32_t process = 0; process < ideal->processes; process++)
        if (process != ideal->own && seen[process] == mark) group->processes[others++] = process;
    qsort(group->members, (size_t)ours, sizeof *group->members, by_rank);
    return true;
}

bool groups_init(struct ideal *ideal)
{
    const struct program *p = ideal->program;
    ideal->gatherings = (struct pool){sizeof(struct gathering), NULL, &ideal->arena};
    int32_t *seen = calloc((size_t)ideal->processes, sizeof *seen);
    ideal->groups = arena_zeros(&ideal->arena, (size_t)p->n_comms + 1, sizeof *ideal->groups);
    bool made = seen && ideal->groups;
    for (int32_t k = 0; made && k < p->n_comms; k++)
        made = group_init(ideal, &ideal->groups[k], p->members + p->comm_offsets[k],
                          p->comm_offsets[k + 1] - p->comm_offsets[k], seen, k + 1);
    free(seen);
    return made;
}

/* The collective of a number, made if nobody has entered it. NULL: no memory, or it is another one. */
static struct gathering *gathering_of(struct ideal *ideal, struct group *group, int64_t number, int32_t operation)
{
    struct gathering **at = &group->open;
    while (*at && (*at)->number < number) at = &(*at)->next;
    struct gathering *found = *at;
    if (found && found->number == number) {
        if (found->operation == operation) return found;
        refuse(ideal, IDEAL_OTHER);
        return NULL;
    }
    struct gathering *made = pool_take(&ideal->gatherings);
    if (!made) {
        refuse(ideal, IDEAL_NO_MEMORY);
        return NULL;
    }
    *made = (struct gathering){.next = found, .group = group, .number = number, .operation = operation};
    made->left = group->n_members;
    made->last = &made->waiting;
    *at = made;
    return made;
}

/* Some of our members have left it. */
static void leave(struct ideal *ideal, struct gathering *gathering, int32_t members)
{
    gathering->left -= members;
    if (gathering->left) return;
    struct gathering **at = &gathering->group->open;
    while (*at != gathering) at = &(*at)->next;
    *at = gathering->next;
    pool_give(&ideal->gatherings, gathering);
}

/* Note how long a rank waited in the traced run for those whom it meets for a file. */
static void note_met(const struct gathering *gathering, struct rank_at *rank)
{
    if (!gathering->of_file) return;
    rank->met_before = gathering->entered > rank->entered ? gathering->entered - rank->entered : 0;
}

/* The members of one more process are all there. */
static void process_is_there(struct ideal *ideal, struct gathering *gathering)
{
    if (gathering->told++ < gathering->group->n_processes) return;
    int32_t woken = 0;
    gathering->done = true;
    for (struct rank_at *next, *rank = gathering->waiting; rank; rank = next, woken++) {
        next = rank->next;
        note_met(gathering, rank);
        wake(ideal, rank, gathering->time);
    }
    gathering->waiting = NULL;
    if (woken) leave(ideal, gathering, woken);
}

static bool tell_others(struct ideal *ideal, const struct group *group, const struct gathering *gathering, int32_t comm)
{
    struct told told = {gathering->time,   gathering->number, gathering->operation, 0, comm, 0, TOLD_MEMBERS, 0,
                        gathering->entered};
    for (int32_t k = 0; k < group->n_processes; k++) {
        told.process = group->processes[k];
        if (!outbox_add(ideal, told)) return false;
    }
    return true;
}

static bool know(struct ideal *ideal, const struct rank_at *rank, const struct op *op, struct known *known)
{
    if (op->comm < 0 || op->comm >= ideal->program->n_comms) return refuse(ideal, IDEAL_OTHER);
    struct group *group = &ideal->groups[op->comm];
    int32_t own = ideal->first[ideal->own] + rank->number;
    int32_t *member =
        group->n_members ? bsearch(&own, group->members, (size_t)group->n_members, sizeof own, by_rank) : NULL;
    if (!member) return refuse(ideal, IDEAL_OTHER);
    known->group = group;
    known->entered = &group->entered[member - group->members];
    return true;
}

static bool wait_in(struct rank_at *rank, const struct op *op, struct gathering *gathering)
{
    rank->entered = op->other;
    rank->next = NULL;
    *gathering->last = rank;
    gathering->last = &rank->next;
    return false;
}

bool groups_enter(struct ideal *ideal, struct rank_at *rank, const struct op *op, struct known *known)
{
    if (!known->group && !know(ideal, rank, op, known)) return false;
    struct group *group = known->group;
    struct gathering *gathering = gathering_of(ideal, group, (*known->entered)++, op->tag);
    if (!gathering) return false;
    if (rank->now > gathering->time) gathering->time = rank->now;
    if (op->flags & OP_OF_FILE) {
        gathering->of_file = true;
        if (op->other > gathering->entered) gathering->entered = op->other;
    }
    if (op->kind == OP_COLLECTIVE) wait_in(rank, op, gathering);
    if (op->kind == OP_COLLECTIVE_START) rank->requests[op->request].gathering = gathering;
    bool last = ++gathering->arrived == group->n_members;
    if (last && !tell_others(ideal, group, gathering, op->comm)) return false;
    if (last) process_is_there(ideal, gathering);
    return op->kind == OP_COLLECTIVE_START;
}

bool groups_wait(struct ideal *ideal, struct rank_at *rank, const struct op *op, struct gathering *gathering)
{
    if (!gathering->done) return wait_in(rank, op, gathering);
    rank->entered = op->other;
    note_met(gathering, rank);
    if (gathering->time > rank->now) rank->now = gathering->time;
    leave(ideal, gathering, 1);
    return true;
}

void groups_told(struct ideal *ideal, const struct told *told)
{
    bool known = told->comm >= 0 && told->comm < ideal->program->n_comms && told->time >= 0 && told->time <= LONGEST;
    struct group *group = known ? &ideal->groups[told->comm] : NULL;
    if (!group || !group->n_members) {
        refuse(ideal, IDEAL_OTHER);
        return;
    }
    struct gathering *gathering = gathering_of(ideal, group, told->number, told->source);
    if (!gathering) return;
    if (told->time > gathering->time) gathering->time = told->time;
    if (told->entered > gathering->entered) gathering->entered = told->entered;
    process_is_there(ideal, gathering);
}
