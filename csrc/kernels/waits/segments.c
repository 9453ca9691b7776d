/* Turns a thread's calls and all other changes, in order of time, into segments. */
#include "waits/segments.h"

#include <stdlib.h>
#include <string.h>

#include "records.h"
#include "rows/inline/min_max.h"
#include "rows/inline/time_order.h"

enum { WAITING = 0, NOTHING_YET = -1 };

struct points {
    struct segment_point *at;
    size_t n, room;
};

struct segment_walk {
    int64_t values[SEGMENT_KINDS];
    int64_t first, over; /* over: when the last call was, or what else it did */
    int32_t activity;    /* of the last segment */
    struct points open;  /* in later windows */
    struct points here;
    struct timed_row *order;
    size_t order_room;
};

struct segment_walk *segment_walk_new(void)
{
    struct segment_walk *walk = calloc(1, sizeof *walk);
    if (walk) segment_walk_begin(walk);
    return walk;
}

void segment_walk_free(struct segment_walk *walk)
{
    if (!walk) return;
    free(walk->open.at);
    free(walk->here.at);
    free(walk->order);
    free(walk);
}

void segment_walk_begin(struct segment_walk *walk)
{
    memset(walk->values, 0, sizeof walk->values);
    walk->first = walk->over = 0;
    walk->activity = NOTHING_YET;
    walk->open.n = 0;
}

int64_t segment_walk_room(const struct segment_walk *walk)
{
    return (int64_t)walk->open.n + 1;
}

int64_t segment_walk_first(const struct segment_walk *walk)
{
    return walk->first;
}

static int make_room_for_points(struct points *points, size_t n)
{
    if (n <= points->room) return 1;
    struct segment_point *bigger = realloc(points->at, 2 * n * sizeof *bigger);
    if (!bigger) return 0;
    points->at = bigger;
    points->room = 2 * n;
    return 1;
}

static void put_point(struct points *points, int32_t of, int64_t time, int64_t value)
{
    points->at[points->n++] = (struct segment_point){time, value, of, 0};
}

/* Put the points of a call. For a folded row: as if all computing between its calls came first, then the tracer's
   time between them, for a program that polls waits for the last one. next: the next call, or NULL. */
static void put_call(struct points *points, const struct trace_call *call, const struct trace_call *next)
{
    int64_t between = min_i64(call->tracer, call->exit - call->enter - call->inside);
    int64_t enter = call->exit - call->inside, left = call->exit + call->tracer - between;
    if (next) left = max_i64(call->exit, min_i64(left, next->enter));
    put_point(points, SEGMENT_TRACER, enter - between, 1);
    put_point(points, SEGMENT_CALL, enter, 1 + (int64_t)call->call);
    put_point(points, SEGMENT_CALL, call->exit, 0);
    put_point(points, SEGMENT_TRACER, left, 0);
}

static const struct trace_call *next_of(const struct trace_call *call, const struct trace_call *end, int32_t thread)
{
    while (call < end && call->thread != thread) call++;
    return call < end ? call : NULL;
}

static void put_calls(struct points *points, const struct trace_call *call, int64_t n, int32_t thread)
{
    const struct trace_call *end = call + n;
    for (call = next_of(call, end, thread); call;) {
        const struct trace_call *next = next_of(call + 1, end, thread);
        put_call(points, call, next);
        call = next;
    }
}

/* By time, those of one time as they came. */
static int sort_segments(struct segment_walk *walk)
{
    struct points *here = &walk->here;
    size_t n = here->n, k = 1;
    while (k < n && here->at[k - 1].time <= here->at[k].time) k++;
    if (k >= n) return 1;
    if (2 * n > walk->order_room) {
        free(walk->order);
        walk->order_room = 4 * n;
        walk->order = malloc(walk->order_room * sizeof *walk->order);
        if (!walk->order) walk->order_room = 0;
    }
    if (!walk->order || !make_room_for_points(here, 2 * n)) return 0;
    for (k = 0; k < n; k++) walk->order[k] = (struct timed_row){here->at[k].time, (int64_t)k};
    time_order(walk->order, (int64_t)n, walk->order + n);
    struct segment_point *copy = here->at + n;
    memcpy(copy, here->at, n * sizeof *copy);
    for (k = 0; k < n; k++) here->at[k] = copy[walk->order[k].row];
    return 1;
}

static int32_t activity_number(struct activities *activities, int64_t path, int64_t what)
{
    int64_t pair = path * activities->what + what;
    if (!activities->number[pair]) {
        activities->known[activities->n] = pair;
        activities->number[pair] = (int32_t)++activities->n;
    }
    return activities->number[pair];
}

static int32_t activity_now(const struct segment_walk *walk, struct activities *activities)
{
    const int64_t *v = walk->values;
    if (v[SEGMENT_WAIT] > 0) return WAITING;
    int64_t outside = !v[SEGMENT_LOST] && v[SEGMENT_TRACER] > 0 ? activities->of_tracer : v[SEGMENT_LOST];
    int64_t what = v[SEGMENT_CALL] > 0 ? activities->first_call - 1 + v[SEGMENT_CALL] : outside;
    return activity_number(activities, v[SEGMENT_PATH], what);
}

/* The segments of the first n points that are here. */
static int64_t put_segments(struct segment_walk *walk, struct activities *activities, size_t n,
                            struct delay_segment *out)
{
    const struct segment_point *point = walk->here.at;
    struct delay_segment *to = out;
    if (n && walk->activity == NOTHING_YET) walk->first = point[0].time;
    for (size_t k = 0; k < n; k++) {
        walk->values[point[k].of] = point[k].value;
        if (point[k].of != SEGMENT_TRACER) walk->over = max_i64(walk->over, point[k].time);
        if (k + 1 < n && point[k + 1].time == point[k].time) continue;
        int32_t activity = activity_now(walk, activities);
        if (activity != walk->activity) *to++ = (struct delay_segment){point[k].time, activity, 0};
        walk->activity = activity;
    }
    return to - out;
}

int64_t segment_walk_window(struct segment_walk *walk, struct activities *activities, const void *calls, int64_t n,
                            int32_t thread, const struct segment_point *points, int64_t n_points, int64_t end,
                            struct delay_segment *out)
{
    const struct trace_call *call = calls, *first = next_of(call, call + n, thread);
    struct points *here = &walk->here, *open = &walk->open;
    here->n = 0;
    if (!make_room_for_points(here, open->n + 4 * (size_t)n + (size_t)n_points)) return -1;
    for (size_t k = 0; k < open->n; k++) { /* until the first call the tracer had it, at most */
        here->at[here->n] = open->at[k];
        if (first) here->at[here->n].time = min_i64(open->at[k].time, first->enter);
        here->n++;
    }
    put_calls(here, call, n, thread);
    for (int64_t k = 0; k < n_points; k++) here->at[here->n++] = points[k];
    if (!sort_segments(walk)) return -1;
    size_t known = here->n;
    while (known && here->at[known - 1].time >= end) known--;
    if (!make_room_for_points(open, here->n - known)) return -1;
    open->n = here->n - known;
    if (open->n) memcpy(open->at, here->at + known, open->n * sizeof *open->at);
    return put_segments(walk, activities, known, out);
}

int64_t segment_walk_end(struct segment_walk *walk, struct activities *activities, const struct segment_point *points,
                         int64_t n_points, int64_t end, int64_t written, struct delay_segment *out)
{
    struct points *open = &walk->open;
    walk->over = max_i64(walk->over, end);
    for (int64_t k = 0; k < n_points; k++) walk->over = max_i64(walk->over, points[k].time);
    for (size_t k = 0; k < open->n; k++)
        if (open->at[k].of != SEGMENT_TRACER) walk->over = max_i64(walk->over, open->at[k].time);
    for (size_t k = 0; k < open->n; k++) open->at[k].time = min_i64(open->at[k].time, walk->over);
    int64_t more = segment_walk_window(walk, activities, NULL, 0, 0, points, n_points, INT64_MAX, out);
    if (more < 0) return INT64_MIN;
    while (more > -written && out[more - 1].begin >= walk->over) more--;
    out[more++] = (struct delay_segment){walk->over, WAITING, 0};
    return more;
}

static int64_t whole(struct segment_walk *walk, struct activities *activities, const struct trace_call *calls,
                     int64_t n, int32_t thread, const struct segment_point *points, int64_t n_points, int64_t end,
                     int64_t last, struct delay_segment *out)
{
    int64_t before = n_points;
    while (before && points[before - 1].time >= end) before--;
    segment_walk_begin(walk);
    int64_t written = segment_walk_window(walk, activities, calls, n, thread, points, before, end, out);
    if (written < 0) return -1;
    int64_t more = segment_walk_end(walk, activities, points + before, n_points - before, last, written, out + written);
    return more == INT64_MIN ? -1 : written + more;
}

int64_t segments_of(struct activities *activities, int64_t n, const void *calls, const struct segment_lane *lanes,
                    const struct segment_point *points, int64_t end, int64_t *counts, int64_t *firsts,
                    struct delay_segment *out)
{
    const struct trace_call *call = calls;
    struct segment_walk *walk = segment_walk_new();
    struct delay_segment *to = out;
    int64_t k = 0;
    for (; walk && k < n; k++) {
        const struct segment_lane *lane = &lanes[k];
        counts[k] = whole(walk, activities, call + lane->first_call, lane->calls, lane->thread,
                          points + lane->first_point, lane->points, end, lane->end, to);
        if (counts[k] < 0) break;
        firsts[k] = walk->first;
        to += counts[k];
    }
    segment_walk_free(walk);
    return k < n ? -1 : to - out;
}
