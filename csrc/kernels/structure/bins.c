/* Signals of a run: see bins.h. */
#include "structure/bins.h"

#include "records.h"
#include "rows/inline/row_records.h"

/* A time as the bin that it lies in, and what is left of that bin from then on. */
struct place {
    int64_t bin;
    double rest;
};

/* `per_ns`: bins; to multiply is faster than to divide. */
static inline struct place place_of(const struct signal_bins *bins, double per_ns, int64_t time)
{
    int64_t at = time > bins->begin ? time - bins->begin : 0;
    if (time > bins->end) at = bins->end - bins->begin;
    struct place place = {(int64_t)((double)at * per_ns), 0};
    if (place.bin * bins->width > at) place.bin--; /* what was rounded */
    if ((place.bin + 1) * bins->width <= at) place.bin++;
    place.rest = (double)((place.bin + 1) * bins->width - at);
    return place;
}

static void put_step(const struct signal_bins *bins, struct place place, double weight)
{
    if (place.bin >= bins->count) return;
    bins->change[place.bin] += weight;
    bins->area[place.bin] += weight * place.rest;
}

/* Most intervals lie in one bin, which then ends as it began. */
static void step_up_and_down(const struct signal_bins *bins, struct place from, struct place to, double weight)
{
    if (from.bin == to.bin) {
        if (from.bin < bins->count) bins->area[from.bin] += weight * (from.rest - to.rest);
        return;
    }
    put_step(bins, from, weight);
    put_step(bins, to, -weight);
}

void signal_add(const struct signal_bins *bins, const int64_t *from, const int64_t *to, const double *weight, int64_t n)
{
    const double per_ns = 1 / (double)bins->width;
    for (int64_t i = 0; i < n; i++) {
        if (to[i] <= from[i]) continue;
        struct place begin = place_of(bins, per_ns, from[i]), end = place_of(bins, per_ns, to[i]);
        step_up_and_down(bins, begin, end, weight ? weight[i] : 1);
    }
}

/* Where calls go, one after the other. */
struct signals {
    const struct signal_bins *bins;
    const uint8_t *kinds;
    int64_t *left;
    double per_ns;
    int64_t known; /* the time whose place is `last`: a burst mostly begins where a call ended */
    struct place last;
};

static struct signals signals_of(const struct signal_bins *bins, const uint8_t *kinds, int64_t *left)
{
    return (struct signals){bins, kinds, left, 1 / (double)bins->width, INT64_MIN, {0, 0}};
}

static inline void put_call_in_bins(struct signals *to, const struct trace_call *call)
{
    const struct signal_bins *bins = to->bins;
    uint8_t kind = to->kinds[call->call];
    if (kind == SIGNAL_CLOCK) return;
    int64_t burst = to->left[call->thread];
    struct place begin = place_of(bins, to->per_ns, call->enter);
    if (call->enter > burst) {
        struct place before = burst == to->known ? to->last : place_of(bins, to->per_ns, burst);
        step_up_and_down(&bins[0], before, begin, 1);
        step_up_and_down(&bins[1], before, begin, (double)(call->enter - burst));
    }
    to->known = call->enter + call->inside;
    to->last = place_of(bins, to->per_ns, to->known);
    if (kind != SIGNAL_OTHER) step_up_and_down(&bins[1 + kind], begin, to->last, 1);
    to->left[call->thread] = call->enter + call->inside + call->tracer;
}

void signal_calls(const struct signal_bins *bins, const void *calls, int64_t n, const uint8_t *kinds, int64_t *left)
{
    struct signals to = signals_of(bins, kinds, left);
    const struct trace_call *row = calls;
    for (int64_t i = 0; i < n; i++) put_call_in_bins(&to, &row[i]);
}

void signal_rows(const struct signal_bins *bins, const struct lane *lane, const void *calls, int64_t n_calls,
                 const void *polls, int64_t n_polls, const uint8_t *kinds, int64_t *left)
{
    struct signals to = signals_of(bins, kinds, left);
    struct row_reader reader = row_reader(lane);
    const struct file_call *call = calls, *const end = call + n_calls;
    const struct file_poll *poll = polls, *const last = poll + n_polls;
    for (;;) {
        for (; call < end && (poll == last || call->enter < poll->enter); call++) {
            struct trace_call one = bare_call_record(&reader, call);
            put_call_in_bins(&to, &one);
        }
        if (poll == last) break;
        struct trace_call one = poll_record(&reader, poll++);
        put_call_in_bins(&to, &one);
    }
}
