/* The walk over the calls of one rank. */
#include "operations/operations.h"

#include <stdlib.h>

#include "operations/internal/op_step.h"
#include "operations/internal/operations.h"

struct op_walk *op_walk_open(int32_t rank, int32_t n_threads, const int64_t *begin, int64_t n_comms,
                             int64_t cpu_overhead)
{
    struct op_walk *walk = calloc(1, sizeof *walk);
    if (!walk) return NULL;
    walk->rank = rank;
    walk->n_threads = n_threads;
    walk->cpu_overhead = cpu_overhead;
    walk->entered = begin[0];
    walk->threads = calloc((size_t)n_threads, sizeof *walk->threads);
    walk->turn = n_threads > 1 ? calloc((size_t)n_comms, sizeof *walk->turn) : NULL;
    if (!walk->threads || (n_threads > 1 && !walk->turn)) {
        op_walk_close(walk);
        return NULL;
    }
    for (int32_t t = 0; t < n_threads; t++) {
        walk->threads[t].at = walk->threads[t].held = begin[t];
        walk->threads[t].number = (uint32_t)t;
        walk->threads[t].next_flush = -1;
    }
    return walk;
}

void op_walk_close(struct op_walk *walk)
{
    if (!walk) return;
    slots_free(&walk->slots);
    free(walk->partitioned.at);
    free(walk->deferred.at);
    free(walk->unchecked.at);
    free(walk->threads);
    free(walk->turn);
    free(walk);
}

int64_t op_walk_slots(const struct op_walk *walk)
{
    return walk->slots.own;
}

int64_t op_walk_shared_slots(const struct op_walk *walk)
{
    return walk->slots.shared;
}

int64_t op_walk_room(const struct op_walk *walk, const struct op_rows *rows)
{
    int64_t n = walk->n_threads, done = rows->first_done[n], events = rows->first_event[n];
    int64_t on_windows = rows->window ? rows->n_calls + 2 * rows->first_partner[rows->n_calls] : 0;
    on_windows += (int64_t)walk->deferred.n;
    if (n == 1) return 2 * rows->n_calls + on_windows + rows->n_posted + 2 * done + events + 1;
    return 5 * rows->n_calls + on_windows + 2 * rows->n_posted + 4 * done + events + n; /* with semaphores */
}

void op_cursor_open(const struct op_rows *rows, int32_t t, struct op_cursor *c)
{
    const struct program_event *events = rows->events;
    const struct trace_request *done = rows->done;
    c->rows = (struct request_source){done + rows->first_done[t], done + rows->first_done[t + 1], NULL};
    c->done = &c->rows;
    c->next = c->placed = rows->first_event[t];
    while (c->placed < rows->first_event[t + 1] && events[c->placed].at >= 0) c->placed++;
}

void op_walk_call(struct op_walk *walk, const struct op_feed *feed, const struct trace_call *call)
{
    const struct op_rows *rows = feed->rows;
    int64_t index = rows->calls ? call - (const struct trace_call *)rows->calls : 0;
    int32_t number = walk->n_threads > 1 ? call->thread : 0;
    op_step(walk, feed, number, call, rows->cpu ? rows->cpu[index] : CPU_UNKNOWN,
            rows->message ? rows->message[index] : 0);
}

void op_walk_done(struct op_walk *walk, const struct op_feed *feed, int32_t t)
{
    op_put_completed(walk, feed->plans, &walk->threads[t], feed->cursors[t].done);
}

int64_t op_walk_calls(struct op_walk *walk, const struct op_plans *plans, const struct op_rows *rows, int64_t *used,
                      void *out)
{
    const struct trace_call *calls = rows->calls;
    const struct trace_request *of_posted = rows->posted, *of_done = rows->done;
    struct request_source posted = {of_posted, of_posted + rows->n_posted, NULL};
    struct op_feed feed = {plans, rows, &posted, malloc((size_t)walk->n_threads * sizeof *feed.cursors)};
    if (!feed.cursors) return -1;
    for (int32_t t = 0; t < walk->n_threads; t++) op_cursor_open(rows, t, &feed.cursors[t]);
    walk->out = out;
    for (int64_t k = 0; k < rows->n_calls; k++) op_walk_call(walk, &feed, &calls[k]);
    used[0] = posted.next - of_posted;
    for (int32_t t = 0; t < walk->n_threads; t++) {
        op_walk_done(walk, &feed, t);
        used[1 + t] = feed.cursors[t].done->next - of_done;
        used[1 + walk->n_threads + t] = feed.cursors[t].next;
    }
    free(feed.cursors);
    return walk->failed ? -1 : walk->out - (struct op *)out;
}

void op_walk_end_calls(struct op_walk *walk)
{
    for (int32_t t = 0; t < walk->n_threads; t++) op_end_call(walk, &walk->threads[t]);
}

int64_t op_walk_finish(struct op_walk *walk, void *out)
{
    walk->out = out;
    op_walk_end_calls(walk);
    return walk->out - (struct op *)out;
}
