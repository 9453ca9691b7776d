/* At an instant jobs end, jobs come, or the promise of one is due (after others ended early, a promise may be at a time
   when nobody ends). Then the policy says which jobs of the queue start. */
#include "jobs/cluster.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/internal/free_nodes.h"

enum { NOBODY = -1 };
#define NEVER INT64_MAX

/* Jobs that run, the first to end at [0]. */
struct running {
    int64_t *end, *job;
    int64_t n;
};

struct cluster {
    int64_t n, nodes, free, now;
    int32_t policy;
    const int64_t *submit, *width, *run, *estimate;
    int64_t *start;
    int64_t next;                        /* the job that comes next */
    int64_t head, tail, *before, *after; /* the queue */
    struct running by_end, by_estimate;
    int64_t *promise, wake;       /* when jobs of the queue start by `free_nodes`, and the first of them */
    struct free_nodes free_nodes; /* for the backfillings that plan the whole queue */
};

static int64_t *column(int64_t n)
{
    return calloc((size_t)n, sizeof(int64_t));
}

struct cluster *cluster_new(int64_t n, int32_t policy, int64_t nodes, const int64_t *submit, const int64_t *width,
                            const int64_t *run, const int64_t *estimate, int64_t *start)
{
    struct cluster *c = malloc(sizeof *c);
    if (!c) return NULL;
    int64_t room = n + 1, steps = 2 * n + 4; /* two for each job, and two that are being made */
    *c = (struct cluster){.n = n,
                          .nodes = nodes,
                          .free = nodes,
                          .policy = policy,
                          .submit = submit,
                          .width = width,
                          .run = run,
                          .estimate = estimate,
                          .start = start,
                          .head = NOBODY,
                          .tail = NOBODY,
                          .wake = NEVER,
                          .before = column(room),
                          .after = column(room),
                          .promise = column(room),
                          .by_end = {column(room), column(room), 0},
                          .by_estimate = {column(room), column(room), 0},
                          .free_nodes = {column(steps), column(steps), 1}};
    if (c->before && c->after && c->promise && c->by_end.end && c->by_end.job && c->by_estimate.end &&
        c->by_estimate.job && c->free_nodes.time && c->free_nodes.free) {
        c->free_nodes.time[0] = c->now = n ? submit[0] : 0;
        c->free_nodes.free[0] = nodes;
        return c;
    }
    cluster_free(c);
    return NULL;
}

void cluster_free(struct cluster *c)
{
    if (!c) return;
    free(c->before);
    free(c->after);
    free(c->promise);
    free(c->by_end.end);
    free(c->by_end.job);
    free(c->by_estimate.end);
    free(c->by_estimate.job);
    free(c->free_nodes.time);
    free(c->free_nodes.free);
    free(c);
}

/* The first of those that end at `end` or later. */
static int64_t place_of_end(const struct running *r, int64_t end)
{
    int64_t low = 0, high = r->n;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (r->end[middle] < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert_running(struct running *r, int64_t end, int64_t job)
{
    int64_t i = place_of_end(r, end);
    size_t rest = (size_t)(r->n - i) * sizeof *r->end;
    memmove(r->end + i + 1, r->end + i, rest);
    memmove(r->job + i + 1, r->job + i, rest);
    r->end[i] = end;
    r->job[i] = job;
    r->n++;
}

static void take_out_running(struct running *r, int64_t end, int64_t job)
{
    int64_t i = place_of_end(r, end);
    while (r->job[i] != job) i++;
    size_t rest = (size_t)(r->n - i - 1) * sizeof *r->end;
    memmove(r->end + i, r->end + i + 1, rest);
    memmove(r->job + i, r->job + i + 1, rest);
    r->n--;
}

static void queue(struct cluster *c, int64_t job)
{
    c->before[job] = c->tail;
    c->after[job] = NOBODY;
    if (c->tail == NOBODY)
        c->head = job;
    else
        c->after[c->tail] = job;
    c->tail = job;
}

/* A job of the queue starts now. */
static void begin_job(struct cluster *c, int64_t job)
{
    int64_t before = c->before[job], after = c->after[job];
    if (before == NOBODY)
        c->head = after;
    else
        c->after[before] = after;
    if (after == NOBODY)
        c->tail = before;
    else
        c->before[after] = before;
    int64_t length = c->run[job] < c->estimate[job] ? c->run[job] : c->estimate[job];
    c->start[job] = c->now;
    c->free -= c->width[job];
    insert_running(&c->by_end, c->now + length, job);
    insert_running(&c->by_estimate, c->now + c->estimate[job], job);
}

/* Starts jobs from the head of the queue while they fit. */
static void sort_waiting_jobs(struct cluster *c)
{
    while (c->head != NOBODY && c->width[c->head] <= c->free) begin_job(c, c->head);
}

/* The first that can have become startable: nodes that became free are for all, a new job changes nothing for those
   that did not fit before it came. */
static int64_t first_candidate(const struct cluster *c, bool freed, int64_t first_new)
{
    return freed ? c->head : first_new;
}

static void first_fit(struct cluster *c, int64_t from)
{
    for (int64_t job = from, next; job != NOBODY && c->free; job = next) {
        next = c->after[job];
        if (c->width[job] <= c->free) begin_job(c, job);
    }
}

/* The head is not delayed: others start that end before the nodes for it are free, or that leave it enough nodes. */
static void easy(struct cluster *c, int64_t from, bool freed)
{
    int64_t old = c->head;
    sort_waiting_jobs(c);
    if (c->head == NOBODY || !c->free) return;
    if (freed || old != c->head) from = c->head;
    int64_t there = c->free, i = 0;
    while (there < c->width[c->head]) there += c->width[c->by_estimate.job[i++]];
    int64_t shadow = c->by_estimate.end[i - 1];
    for (; i < c->by_estimate.n && c->by_estimate.end[i] == shadow; i++) there += c->width[c->by_estimate.job[i]];
    int64_t spare = there - c->width[c->head];
    for (int64_t job = from, next; job != NOBODY && c->free; job = next) {
        next = c->after[job];
        bool ends = c->now + c->estimate[job] <= shadow;
        if (job == c->head || c->width[job] > c->free || (!ends && c->width[job] > spare)) continue;
        if (!ends) spare -= c->width[job];
        begin_job(c, job);
    }
}

static void promise(struct cluster *c, int64_t job)
{
    int64_t at = free_nodes_earliest(&c->free_nodes, c->now, c->width[job], c->estimate[job]);
    free_nodes_add(&c->free_nodes, at, at + c->estimate[job], -c->width[job]);
    c->promise[job] = at;
}

/* Free nodes over time when nobody of the queue has a promise. */
static void only_running(struct cluster *c)
{
    c->free_nodes.n = 1;
    c->free_nodes.time[0] = c->now;
    c->free_nodes.free[0] = c->free;
    for (int64_t i = 0; i < c->by_estimate.n; i++)
        if (c->by_estimate.end[i] > c->now) {
            int64_t last = c->free_nodes.n - 1, nodes = c->free_nodes.free[last] + c->width[c->by_estimate.job[i]];
            if (c->free_nodes.time[last] < c->by_estimate.end[i]) last = c->free_nodes.n++;
            c->free_nodes.time[last] = c->by_estimate.end[i];
            c->free_nodes.free[last] = nodes;
        }
}

/* Every job of the queue has a promise. When one ends early, each in turn gets the best that there is now: beside the
   promises of all others (first fit), or as if only those before it were there (predictive). */
static void backfill(struct cluster *c, int64_t first_new, bool early)
{
    bool anew = early && c->policy == CLUSTER_BACKFILL_PREDICTIVE;
    if (anew)
        only_running(c);
    else
        free_nodes_forget(&c->free_nodes, c->now);
    bool is_new = false;
    for (int64_t job = c->head; job != NOBODY; job = c->after[job]) {
        is_new = is_new || job == first_new;
        if (early && !anew && !is_new && c->promise[job] > c->now) {
            free_nodes_add(&c->free_nodes, c->promise[job], c->promise[job] + c->estimate[job], c->width[job]);
            promise(c, job);
        } else if (anew || is_new) {
            promise(c, job);
        }
    }
    c->wake = NEVER;
    for (int64_t job = c->head, next; job != NOBODY; job = next) {
        next = c->after[job];
        if (c->promise[job] == c->now)
            begin_job(c, job);
        else if (c->promise[job] < c->wake)
            c->wake = c->promise[job];
    }
}

/* All jobs that end now. Whether any did, and whether one did so before its estimate. */
static bool end_jobs(struct cluster *c, bool *early)
{
    bool any = false;
    while (c->by_end.n && c->by_end.end[0] == c->now) {
        int64_t job = c->by_end.job[0], estimated = c->start[job] + c->estimate[job];
        take_out_running(&c->by_end, c->now, job);
        take_out_running(&c->by_estimate, estimated, job);
        c->free += c->width[job];
        if (estimated > c->now) {
            *early = true;
            if (c->policy == CLUSTER_BACKFILL_FIRST_FIT)
                free_nodes_add(&c->free_nodes, c->now, estimated, c->width[job]);
        }
        any = true;
    }
    return any;
}

static void instant(struct cluster *c)
{
    c->now = c->wake;
    if (c->next < c->n && c->submit[c->next] < c->now) c->now = c->submit[c->next];
    if (c->by_end.n && c->by_end.end[0] < c->now) c->now = c->by_end.end[0];
    bool early = false, freed = end_jobs(c, &early);
    int64_t first_new = c->next < c->n && c->submit[c->next] == c->now ? c->next : NOBODY;
    while (c->next < c->n && c->submit[c->next] == c->now) queue(c, c->next++);
    switch (c->policy) {
    case CLUSTER_FCFS:
        sort_waiting_jobs(c);
        break;
    case CLUSTER_FIRST_FIT:
        first_fit(c, first_candidate(c, freed, first_new));
        break;
    case CLUSTER_EASY:
        easy(c, first_candidate(c, freed, first_new), freed);
        break;
    default:
        backfill(c, first_new, early);
    }
}

int cluster_advance(struct cluster *c, int64_t instants)
{
    while (instants-- && (c->next < c->n || c->by_end.n || c->head != NOBODY)) instant(c);
    return c->next < c->n || c->by_end.n || c->head != NOBODY;
}
