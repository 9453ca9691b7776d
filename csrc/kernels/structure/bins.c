/* Signals of a run: see bins.h. */
#include "structure/bins.h"

#include "records.h"

/* A time as the bin that it lies in, and what is left of that bin from then on. */
struct place {
    int64_t bin;
    double rest;
};

static struct place place_of(const struct signal_bins *bins, int64_t time)
{
    int64_t at = time > bins->begin ? time - bins->begin : 0;
    if (time > bins->end) at = bins->end - bins->begin;
    struct place place = {(int64_t)((double)at / (double)bins->width), 0};
    if (place.bin * bins->width > at) place.bin--; /* rounded up */
    if ((place.bin + 1) * bins->width <= at) place.bin++;
    place.rest = (double)((place.bin + 1) * bins->width - at);
    return place;
}

static void step(const struct signal_bins *bins, struct place place, double weight)
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
    step(bins, from, weight);
    step(bins, to, -weight);
}

void signal_add(const struct signal_bins *bins, const int64_t *from, const int64_t *to, const double *weight, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (to[i] > from[i])
            step_up_and_down(bins, place_of(bins, from[i]), place_of(bins, to[i]), weight ? weight[i] : 1);
}

void signal_calls(const struct signal_bins *bins, const void *calls, int64_t n, const uint8_t *kinds, int64_t *left)
{
    const struct trace_call *row = calls;
    int64_t known = INT64_MIN; /* the time whose place is `last`: a burst mostly begins where a call ended */
    struct place last = {0, 0};
    for (const struct trace_call *end = row + n; row < end; row++) {
        uint8_t kind = kinds[row->call];
        if (kind == SIGNAL_CLOCK) continue;
        int64_t burst = left[row->thread];
        struct place begin = place_of(bins, row->enter);
        if (row->enter > burst) {
            struct place before = burst == known ? last : place_of(bins, burst);
            step_up_and_down(&bins[0], before, begin, 1);
            step_up_and_down(&bins[1], before, begin, (double)(row->enter - burst));
        }
        known = row->enter + row->inside;
        last = place_of(bins, known);
        if (kind != SIGNAL_OTHER) step_up_and_down(&bins[1 + kind], begin, last, 1);
        left[row->thread] = row->enter + row->inside + row->tracer;
    }
}
