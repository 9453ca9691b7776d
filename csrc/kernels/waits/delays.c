/* Finds the costs of delays. A wait is due to the cause's excess over the waiting thread since both were in step, and
   to the cause's waits in between.

   A wait W of size w has a total cost C = w + (later waits that it causes). Since the two were in step the cause
   spent d(a) more than the waiting thread on activity a, and waited for t(v) in its waits v. Each activity gets d(a)
   / S of C, and each wait t(v) / S, with S the sum of all these. Waits are taken from the last to the first, so all
   charges of a wait are known when it is taken. The charge of a range of waits is added at its end and taken off at
   its begin. */
#include "waits/delays.h"
#include <stdlib.h>
#include <string.h>

#include "rows/inline/min_max.h"

enum { SHORTEST_STEP = 1024, SEGMENTS_AN_ACTIVITY = 8, DIRECT = 0, BY_WAITS = 1 };

/* Times by activity, and which activities are not 0. */
struct vector {
    int64_t *ns;
    int32_t *used;
    int32_t n_used;
    uint8_t *is_used;
};

struct delays {
    const struct delay_tables *t;
    struct delay_charges c;
    int64_t step;           /* segments between two checkpoints */
    int64_t *checkpoint_of; /* of each lane: its first checkpoint */
    int64_t *checkpoints;   /* times by activity from the lane's begin to every step-th segment */
    struct vector excess;
    int64_t *taken;  /* of each lane: places from here on have been taken */
    double *running; /* of each lane, for a ns of its waits */
};

static void add_delay(struct vector *v, int32_t activity, int64_t ns)
{
    if (!v->is_used[activity]) {
        v->is_used[activity] = 1;
        v->used[v->n_used++] = activity;
    }
    v->ns[activity] += ns;
}

static void clear(struct vector *v)
{
    while (v->n_used) {
        int32_t activity = v->used[--v->n_used];
        v->ns[activity] = 0;
        v->is_used[activity] = 0;
    }
}

/* The last segment of a lane that begins at or before a time, else its first. */
static int64_t segment_at(const struct delay_tables *t, int32_t lane, int64_t time)
{
    int64_t low = t->segment_first[lane], high = t->segment_first[lane + 1] - 1;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (t->segments[middle].begin <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void add_checkpoint(struct delays *w, int32_t lane, int64_t number, int64_t sign)
{
    const int64_t *sums = w->checkpoints + (w->checkpoint_of[lane] + number) * w->t->activities;
    for (int32_t a = 0; a < w->t->activities; a++)
        if (sums[a]) add_delay(&w->excess, a, sign * sums[a]);
}

/* Adds sign times what a lane does in [begin, end). */
static void add_times(struct delays *w, int32_t lane, int64_t begin, int64_t end, int64_t sign)
{
    const struct delay_tables *t = w->t;
    int64_t first = t->segment_first[lane], last = t->segment_first[lane + 1] - 1;
    if (end <= begin || last <= first) return;
    int64_t at = segment_at(t, lane, begin), stop = segment_at(t, lane, end) + 1;
    int64_t from = (at - first) / w->step + 1, to = (stop - 1 - first) / w->step;
    int64_t jump = to > from ? first + from * w->step : stop;
    while (at < stop) {
        if (at == jump) {
            add_checkpoint(w, lane, to, sign);
            add_checkpoint(w, lane, from, -sign);
            at = first + to * w->step;
            jump = stop;
        }
        int64_t ns = min_i64(end, t->segments[at + 1].begin) - max_i64(begin, t->segments[at].begin);
        if (ns > 0) add_delay(&w->excess, t->segments[at].activity, sign * ns);
        at++;
    }
}

/* The first place of a lane, among those not taken yet, that is entered at or after a time. */
static int64_t place_at(const struct delays *w, int32_t lane, int64_t time)
{
    int64_t low = w->t->place_first[lane], high = w->taken[lane];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (w->t->entered[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t total_excess(const struct vector *v)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < v->n_used; i++)
        if (v->used[i] && v->ns[v->used[i]] > 0) sum += v->ns[v->used[i]];
    return sum;
}

static void share_out_cost(const struct vector *v, double *costs, double own, double caused)
{
    for (int32_t i = 0; i < v->n_used; i++) {
        int32_t activity = v->used[i];
        if (!activity || v->ns[activity] <= 0) continue;
        costs[2 * activity + DIRECT] += own * (double)v->ns[activity];
        costs[2 * activity + BY_WAITS] += caused * (double)v->ns[activity];
    }
}

/* The waits of the cause of a wait since both were in step: places from `first` to before `last`, and how many ns of
   the wait before these lie in this time. */
struct range {
    int64_t first, last;
    int64_t part;
    int64_t ns; /* in all */
};

static struct range waits_of_cause(const struct delays *w, const struct delay_wait *wait)
{
    const struct delay_tables *t = w->t;
    struct range r = {.first = place_at(w, wait->cause, wait->since),
                      .last = place_at(w, wait->cause, wait->cause_enter)};
    if (r.last > r.first) r.ns = t->waited_before[r.last] - t->waited_before[r.first];
    int64_t before = r.first - 1;
    if (before >= t->place_first[wait->cause]) {
        int64_t end = t->entered[before] + t->waited_before[before + 1] - t->waited_before[before];
        r.part = max_i64(0, min_i64(end, wait->cause_enter) - wait->since);
    }
    r.ns += r.part;
    return r;
}

/* Charges these waits, by the ns. */
static void charge(struct delays *w, int32_t lane, struct range r, double a_ns)
{
    if (r.part) w->c.alone[r.first - 1] += a_ns * (double)r.part;
    if (r.last <= r.first) return;
    w->c.charge[r.last - 1] += a_ns;
    if (r.first > w->t->place_first[lane]) w->c.charge[r.first - 1] -= a_ns;
}

/* Takes one wait; returns how much of it is due to waits of its cause. */
static double take_wait(struct delays *w, const struct delay_wait *wait, double caused, double *costs)
{
    struct range waits = waits_of_cause(w, wait);
    add_times(w, wait->cause, wait->since, wait->cause_enter, 1);
    add_times(w, wait->lane, wait->since, wait->enter, -1);
    int64_t excess = total_excess(&w->excess);
    if (excess + waits.ns == 0) { /* it did nothing longer: what it did while the other waited */
        clear(&w->excess);
        add_times(w, wait->cause, wait->enter, wait->cause_enter, 1);
        excess = total_excess(&w->excess);
    }
    double size = (double)(wait->end - wait->enter), sum = (double)(excess + waits.ns);
    if (sum > 0) {
        share_out_cost(&w->excess, costs + 2 * w->t->activities * wait->cause, size / sum, caused / sum);
        charge(w, wait->cause, waits, (size + caused) / sum);
    }
    clear(&w->excess);
    return sum > 0 ? size * (double)waits.ns / sum : 0;
}

/* Room for them, and where those of each lane begin. */
static int open_checkpoints(struct delays *w)
{
    const struct delay_tables *t = w->t;
    int64_t n = 0;
    for (int64_t lane = 0; lane < t->lanes; lane++) {
        w->checkpoint_of[lane] = n;
        n += (t->segment_first[lane + 1] - t->segment_first[lane]) / w->step + 1;
    }
    w->checkpoint_of[t->lanes] = n; /* what is summed up so far */
    w->checkpoints = calloc((size_t)((n + 1) * t->activities), sizeof *w->checkpoints);
    return w->checkpoints ? 0 : -1;
}

void delays_add_lane(struct delays *w, int64_t lane)
{
    const struct delay_tables *t = w->t;
    size_t row = (size_t)t->activities * sizeof *w->checkpoints;
    int64_t *sums = w->checkpoints + w->checkpoint_of[t->lanes] * t->activities;
    int64_t first = t->segment_first[lane], last = t->segment_first[lane + 1] - 1;
    memset(sums, 0, row);
    for (int64_t at = first; at < last; at++) {
        int64_t number = (at - first) / w->step;
        if ((at - first) % w->step == 0)
            memcpy(w->checkpoints + (w->checkpoint_of[lane] + number) * t->activities, sums, row);
        sums[t->segments[at].activity] += t->segments[at + 1].begin - t->segments[at].begin;
    }
}

void delays_free(struct delays *w)
{
    if (!w) return;
    free(w->checkpoint_of);
    free(w->checkpoints);
    free(w->excess.ns);
    free(w->excess.used);
    free(w->excess.is_used);
    free(w->taken);
    free(w->running);
    free(w);
}

static int open_work(struct delays *w)
{
    size_t lanes = (size_t)w->t->lanes + 1, activities = (size_t)w->t->activities;
    w->step = max_i64(SHORTEST_STEP, SEGMENTS_AN_ACTIVITY * w->t->activities);
    w->checkpoint_of = calloc(lanes, sizeof *w->checkpoint_of);
    w->excess.ns = calloc(activities, sizeof *w->excess.ns);
    w->excess.used = calloc(activities, sizeof *w->excess.used);
    w->excess.is_used = calloc(activities, 1);
    w->taken = calloc(lanes, sizeof *w->taken);
    w->running = calloc(lanes, sizeof *w->running);
    int all = w->checkpoint_of && w->excess.ns && w->excess.used && w->excess.is_used && w->taken && w->running;
    return all ? open_checkpoints(w) : -1;
}

struct delays *delays_new(const struct delay_tables *tables, const struct delay_charges *charges)
{
    struct delays *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->t = tables;
    w->c = *charges;
    if (open_work(w)) {
        delays_free(w);
        return NULL;
    }
    for (int64_t lane = 0; lane < tables->lanes; lane++) w->taken[lane] = tables->place_first[lane + 1];
    return w;
}

void delays_take(struct delays *w, const struct delay_wait *waits, int64_t n, double *costs, double *indirect,
                 double *caused)
{
    for (int64_t k = n - 1; k >= 0; k--) {
        const struct delay_wait *wait = &waits[k];
        w->taken[wait->lane] = min_i64(w->taken[wait->lane], wait->place);
        w->running[wait->lane] += w->c.charge[wait->place];
        double a_ns = w->running[wait->lane] > 0 ? w->running[wait->lane] : 0;
        double later_waits = a_ns * (double)(wait->end - wait->enter) + w->c.alone[wait->place];
        caused[wait->place] = later_waits;
        indirect[wait->place] = take_wait(w, wait, later_waits, costs);
    }
}
