/* The controlled logical clock: see clock_repair.h, and analyzer/recording/run/clock_repair.py for the idea. */
#include "matching/clock_repair.h"
#include "rows/inline/ticks.h"
#include <stdlib.h>
#include <string.h>

enum { SINK = 1, FIRST = 2 };
enum { RATE = 7 }; /* intervals are shortened or lengthened by 1 / 2^7 */

struct point {
    int64_t time;
    int32_t rank;
    int32_t kind;
};

/* Something at `time` is moved to `value`, or (a cap) not beyond it. */
struct knot {
    int64_t time;
    int64_t value;
};

struct list {
    void *items;
    int64_t n;
    int64_t room;
};

/* knots: sinks that were moved, in order of time. Behind each the clock is slow until it has its own time again. */
struct rank_clock {
    struct list knots;
    struct list caps;
    struct list pieces;
};

struct repair {
    int64_t ranks;
    int64_t latency;
    struct rank_clock *clocks;
};

struct repair *repair_new(int64_t ranks, int64_t latency)
{
    struct repair *r = malloc(sizeof *r);
    if (!r) return NULL;
    *r = (struct repair){ranks, latency, calloc((size_t)(ranks ? ranks : 1), sizeof *r->clocks)};
    if (r->clocks) return r;
    free(r);
    return NULL;
}

void repair_free(struct repair *r)
{
    if (!r) return;
    for (int64_t i = 0; i < r->ranks; i++) {
        free(r->clocks[i].knots.items);
        free(r->clocks[i].caps.items);
        free(r->clocks[i].pieces.items);
    }
    free(r->clocks);
    free(r);
}

static int reserve_items(struct list *l, int64_t n, size_t bytes)
{
    if (n <= l->room) return 0;
    int64_t room = n > 2 * l->room ? n : 2 * l->room;
    void *items = realloc(l->items, (size_t)room * bytes);
    if (!items) return -1;
    l->items = items;
    l->room = room;
    return 0;
}

/* Return a later time as a knot moves it. */
static int64_t slowed(struct knot k, int64_t time)
{
    return k.value + ((time - k.time) * ((1 << RATE) - 1) >> RATE);
}

/* Return the number of knots at or before a time; mostly the time is after all of them. */
static int64_t knots_until(const struct list *l, int64_t time)
{
    const struct knot *k = l->items;
    int64_t low = 0, high = l->n;
    if (high && k[high - 1].time <= time) return high;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (k[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Return a time of a rank, moved by the knots before it. */
static int64_t forward(const struct rank_clock *c, int64_t time)
{
    int64_t n = knots_until(&c->knots, time);
    if (!n) return time;
    int64_t value = slowed(((const struct knot *)c->knots.items)[n - 1], time);
    return value > time ? value : time;
}

/* Add a knot in place of the later knots that it moves far enough. */
static int raise_knot(struct list *l, struct knot knot)
{
    if (reserve_items(l, l->n + 1, sizeof knot)) return -1;
    struct knot *k = l->items;
    int64_t at = knots_until(l, knot.time);
    if (at && k[at - 1].time == knot.time) at--;
    int64_t next = at;
    while (next < l->n && slowed(knot, k[next].time) >= k[next].value) next++;
    memmove(k + at + 1, k + next, (size_t)(l->n - next) * sizeof *k);
    k[at] = knot;
    l->n += at + 1 - next;
    return 0;
}

/* The most extreme value of a group so far, and that of all other ranks than the one it is of. */
struct extreme {
    int64_t value;
    int64_t other;
    int32_t rank;
};

static const struct extreme none = {INT64_MIN / 2, INT64_MIN / 2, -1};

static void add_extreme(struct extreme *e, int64_t value, int32_t rank)
{
    if (value > e->value) {
        if (rank != e->rank) e->other = e->value;
        e->value = value;
        e->rank = rank;
    } else if (rank != e->rank && value > e->other) {
        e->other = value;
    }
}

static int64_t of_others(const struct extreme *e, int32_t rank)
{
    return rank == e->rank ? e->other : e->value;
}

static int64_t mapped(const struct rank_clock *c, int64_t time)
{
    return c->pieces.n ? clock_value(c->pieces.items, c->pieces.n, (uint64_t)time) : time;
}

int64_t repair_count(const struct repair *r, const void *points, int64_t n, int64_t *worst)
{
    struct extreme last = none;
    int64_t count = 0;
    *worst = 0;
    for (const struct point *p = points, *end = p + n; p < end; p++) {
        if (p->kind & FIRST) last = none;
        if (!(p->kind & SINK)) {
            add_extreme(&last, p->time, p->rank);
            continue;
        }
        int64_t early = of_others(&last, p->rank) + r->latency - p->time;
        count += early > 0;
        if (early > *worst) *worst = early;
    }
    return count;
}

int64_t repair_forward(struct repair *r, const void *points, int64_t n)
{
    struct extreme last = none;
    int64_t moved = 0;
    for (const struct point *p = points, *end = p + n; p < end; p++) {
        struct rank_clock *c = &r->clocks[p->rank];
        int64_t value = forward(c, p->time);
        if (p->kind & FIRST) last = none;
        if (!(p->kind & SINK)) {
            add_extreme(&last, value, p->rank);
            continue;
        }
        int64_t least = of_others(&last, p->rank) + r->latency;
        if (value >= least) continue;
        if (raise_knot(&c->knots, (struct knot){p->time, least})) return -1;
        moved++;
    }
    return moved;
}

int64_t repair_cap(struct repair *r, const void *points, int64_t n)
{
    struct extreme first = none; /* of the sinks behind, with the sign changed: the earliest is the largest */
    int64_t caps = 0;
    for (const struct point *begin = points, *p = begin + n; p-- > begin;) {
        struct rank_clock *c = &r->clocks[p->rank];
        if (p->kind & SINK) {
            add_extreme(&first, -forward(c, p->time), p->rank);
        } else {
            int64_t most = -of_others(&first, p->rank) - r->latency;
            if (mapped(c, p->time) > most) {
                if (reserve_items(&c->caps, c->caps.n + 1, sizeof(struct knot))) return -1;
                ((struct knot *)c->caps.items)[c->caps.n++] = (struct knot){p->time, most};
                caps++;
            }
        }
        if (p->kind & FIRST) first = none;
    }
    return caps;
}

static int by_clock_time(const void *a, const void *b)
{
    const struct knot *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

/* Where the map of a rank is decided: at a knot, or at a source that must not be moved beyond `most`. */
struct corner {
    int64_t time;
    int64_t least;
    int64_t most;
    int64_t value;
    int is_knot;
};

/* Knots and caps in order of time, at each time one; the first is the beginning of the trace, which stays there. */
static int64_t merge_corners(const struct rank_clock *c, struct corner *corners)
{
    const struct knot *knot = c->knots.items, *knots_end = knot + c->knots.n;
    const struct knot *cap = c->caps.items, *caps_end = cap + c->caps.n;
    struct corner *out = corners;
    if (knot->time > 0) *out++ = (struct corner){.time = 0, .least = 0, .most = 0};
    while (knot < knots_end || cap < caps_end) {
        int64_t time = cap == caps_end || (knot < knots_end && knot->time <= cap->time) ? knot->time : cap->time;
        struct corner corner = {.time = time, .least = forward(c, time), .most = INT64_MAX};
        for (; knot < knots_end && knot->time == time; knot++) corner.is_knot = 1;
        for (; cap < caps_end && cap->time == time; cap++)
            if (cap->value < corner.most) corner.most = cap->value;
        if (out > corners && out[-1].time >= time) continue; /* a cap at the very beginning */
        *out++ = corner;
    }
    return out - corners;
}

/* How far a clock that is fast goes. */
static int64_t hurried(int64_t elapsed)
{
    return elapsed + (elapsed >> RATE);
}

/* From right to left: each corner as late as a fast clock needs it to meet the next one, if it may be. */
static void set_values(struct corner *corners, int64_t n)
{
    for (int64_t i = n; i-- > 0;) {
        struct corner *c = &corners[i];
        c->value = c->least;
        if (i + 1 == n) continue;
        int64_t wanted = c[1].value - hurried(c[1].time - c->time);
        if (wanted > c->most) wanted = c->most;
        if (wanted > c->value) c->value = wanted;
    }
}

static struct clock_piece *put_clock_piece(struct clock_piece *out, int64_t origin, int64_t value, int64_t multiplier,
                                           int shift)
{
    *out = (struct clock_piece){origin, value, multiplier, shift};
    return out + 1;
}

/* A straight line to the next corner. */
static struct clock_piece *put_line(struct clock_piece *out, const struct corner *c)
{
    uint64_t run = (uint64_t)(c[1].time - c->time), rise = (uint64_t)(c[1].value - c->value);
    int shift = 62;
    while (shift && rise / run >> (62 - shift)) shift--;
    return put_clock_piece(out, c->time, c->value, (int64_t)(((unsigned __int128)rise << shift) / run), shift);
}

/* The clock as the knots left it, from a knot (or from the beginning, where it is right) on. */
static struct clock_piece *put_slow(struct clock_piece *out, const struct corner *c)
{
    int64_t ahead = c->value - c->time;
    if (ahead > 0) {
        out = put_clock_piece(out, c->time, c->value, (1 << RATE) - 1, RATE);
        return put_clock_piece(out, c->time + ((ahead - 1) << RATE) + 1, c->time + ((ahead - 1) << RATE) + 1, 1, 0);
    }
    return put_clock_piece(out, c->time, c->time, 1, 0);
}

/* The pieces that begin in the slow part but where the fast one has begun go, and the fast one comes: it begins at the
 * first time at which it is later than the slow one and meets the next corner. */
static struct clock_piece *put_fast(struct clock_piece *slow, struct clock_piece *out, const struct corner *c)
{
    int64_t low = c->time + 1, high = c[1].time;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (c[1].value - hurried(c[1].time - middle) > clock_value(slow, out - slow, (uint64_t)middle))
            high = middle;
        else
            low = middle + 1;
    }
    while (out > slow + 1 && out[-1].origin >= low) out--;
    if (low == c[1].time) return out;
    return put_clock_piece(out, low, c[1].value - hurried(c[1].time - low), (1 << RATE) + 1, RATE);
}

static int64_t write_pieces(const struct corner *corners, int64_t n, struct clock_piece *pieces)
{
    struct clock_piece *out = pieces;
    for (const struct corner *c = corners, *end = corners + n; c < end; c++) {
        int is_last = c + 1 == end;
        if (!is_last && c->value <= c[1].value - hurried(c[1].time - c->time)) {
            out = put_line(out, c);
        } else {
            struct clock_piece *slow = out;
            out = put_slow(out, c);
            if (!is_last) out = put_fast(slow, out, c);
        }
    }
    return out - pieces;
}

/* A source whose cap changes nothing is no corner: the slow part goes on through it, from its own knot. */
static int64_t drop_idle(struct corner *corners, int64_t n)
{
    struct corner *out = corners + (n > 0);
    for (const struct corner *c = corners + 1, *end = corners + n; c < end; c++) {
        int turns = c + 1 < end && c->value <= c[1].value - hurried(c[1].time - c->time);
        if (c->is_knot || c->value > c->least || turns) *out++ = *c;
    }
    return out - corners;
}

static int amortize(struct rank_clock *c)
{
    if (c->caps.n) qsort(c->caps.items, (size_t)c->caps.n, sizeof(struct knot), by_clock_time);
    int64_t most = c->knots.n + c->caps.n + 1;
    struct corner *corners = malloc((size_t)most * sizeof *corners);
    if (!corners || reserve_items(&c->pieces, 3 * most, sizeof(struct clock_piece))) {
        free(corners);
        return -1;
    }
    int64_t n = merge_corners(c, corners);
    set_values(corners, n);
    n = drop_idle(corners, n);
    c->pieces.n = write_pieces(corners, n, c->pieces.items);
    free(corners);
    return 0;
}

int64_t repair_amortize(struct repair *r)
{
    for (int64_t i = 0; i < r->ranks; i++)
        if (r->clocks[i].knots.n && amortize(&r->clocks[i])) return -1;
    return 0;
}

int64_t repair_map(const struct repair *r, int64_t rank, struct clock_piece *pieces)
{
    const struct list *l = &r->clocks[rank].pieces;
    if (pieces && l->n) memcpy(pieces, l->items, (size_t)l->n * sizeof *pieces);
    return l->n;
}
