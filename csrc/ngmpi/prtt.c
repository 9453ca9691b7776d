#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include "calls_of_mpi.h"
#include "clock/clock.h"
#include "net.h"
#include "prtt.h"

enum { TAG = 70 };

/* How often this thread has been put off its processor while it wanted to run. */
static long preemptions(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nivcsw;
}

/* Sets `flag` if the processor was lost since `*since`, and begins anew. */
static uint64_t hit_since(long *since, uint64_t flag)
{
    long now = preemptions();
    uint64_t hit = now != *since ? flag : 0;
    *since = now;
    return hit;
}

/* At least d ticks from now; returns how many it became. */
static uint64_t spin(uint64_t d)
{
    uint64_t begin = clock_ticks(), now;
    do now = clock_ticks();
    while (now - begin < d);
    return now - begin;
}

static int prtt(const struct prtt_visit *v, int n, uint64_t d, int size, uint64_t *time, uint64_t *waited)
{
    uint64_t begin = clock_ticks(), waits = 0;
    int error = mpi_send(v->sent, size, v->peer, TAG, v->comm);
    for (int i = 1; i < n && !error; i++) {
        if (d) waits += spin(d);
        error = mpi_send(v->sent, size, v->peer, TAG, v->comm);
    }
    if (!error) error = mpi_receive(v->received, size, v->peer, TAG, v->comm);
    *time = clock_ticks() - begin;
    if (waited) *waited = waits;
    return error;
}

static int answer_visit(const struct prtt_visit *v, int n, int size)
{
    int error = 0;
    for (int i = 0; i < n && !error; i++) error = mpi_receive(v->received, size, v->peer, TAG, v->comm);
    return error ? error : mpi_send(v->sent, size, v->peer, TAG, v->comm);
}

/* Both ranks are at the same place, and have what they will touch in their caches. */
static int get_ready(const struct prtt_visit *v)
{
    memset(v->sent, 0, (size_t)v->size);
    memset(v->received, 0, (size_t)v->size);
    return mpi_polite_barrier(v->comm);
}

static int measure_row(const struct prtt_visit *v, struct prtt_row *row, long *lost)
{
    row->start = clock_ticks();
    int error = prtt(v, 1, 0, v->size, &row->one, NULL);
    row->flags = hit_since(lost, FLAG_HIT_ONE);
    if (!error) error = prtt(v, v->train, 0, v->size, &row->train, NULL);
    row->flags |= hit_since(lost, FLAG_HIT_TRAIN);
    row->delay = 2 * row->one;
    if (v->most_delay && row->delay > v->most_delay) {
        row->delay = v->most_delay;
        row->flags |= FLAG_CAPPED;
    }
    if (!error) error = prtt(v, v->train, row->delay, v->size, &row->delayed, &row->waited);
    row->flags |= hit_since(lost, FLAG_HIT_DELAYED);
    if (!error) error = prtt(v, 1, 0, 1, &row->zero, NULL);
    row->flags |= hit_since(lost, FLAG_HIT_ZERO);
    return error;
}

static int answer_row(const struct prtt_visit *v, uint64_t *flags, long *lost)
{
    int error = answer_visit(v, 1, v->size);
    *flags = hit_since(lost, FLAG_HIT_ONE);
    if (!error) error = answer_visit(v, v->train, v->size);
    *flags |= hit_since(lost, FLAG_HIT_TRAIN);
    if (!error) error = answer_visit(v, v->train, v->size);
    *flags |= hit_since(lost, FLAG_HIT_DELAYED);
    if (!error) error = answer_visit(v, 1, 1);
    *flags |= hit_since(lost, FLAG_HIT_ZERO);
    return error;
}

int prtt_measure(const struct prtt_visit *visit, struct prtt_row *rows)
{
    int error = get_ready(visit);
    long lost = preemptions();
    for (int i = 0; i < visit->rows && !error; i++) error = measure_row(visit, &rows[i], &lost);
    return error;
}

int prtt_answer(const struct prtt_visit *visit, uint64_t *flags)
{
    int error = get_ready(visit);
    long lost = preemptions();
    for (int i = 0; i < visit->rows && !error; i++) error = answer_row(visit, &flags[i], &lost);
    return error;
}

/* Takes n messages, with d ticks between the receives, after having asked for them. */
static int take_time(const struct prtt_visit *v, uint64_t d, uint64_t *time, uint64_t *waited)
{
    uint64_t waits = 0;
    int error = mpi_send(v->sent, 1, v->peer, TAG, v->comm);
    if (!error) error = mpi_receive(v->received, v->size, v->peer, TAG, v->comm);
    uint64_t begin = clock_ticks();
    for (int i = 1; i < v->train && !error; i++) {
        if (d) waits += spin(d);
        error = mpi_receive(v->received, v->size, v->peer, TAG, v->comm);
    }
    *time = clock_ticks() - begin;
    if (waited) *waited = waits;
    return error;
}

static int give(const struct prtt_visit *v)
{
    int error = mpi_receive(v->received, 1, v->peer, TAG, v->comm);
    for (int i = 0; i < v->train && !error; i++) error = mpi_send(v->sent, v->size, v->peer, TAG, v->comm);
    return error;
}

int prtt_receive(const struct prtt_visit *v, struct prtt_receiver_row *rows)
{
    int error = get_ready(v);
    for (struct prtt_receiver_row *row = rows; row < rows + v->rows && !error; row++) {
        long lost = preemptions();
        row->start = clock_ticks();
        error = take_time(v, 0, &row->train, NULL);
        row->flags = hit_since(&lost, FLAG_HIT_TRAIN);
        row->delay = v->most_delay;
        if (!error) error = take_time(v, row->delay, &row->delayed, &row->waited);
        row->flags |= hit_since(&lost, FLAG_HIT_DELAYED);
    }
    return error;
}

int prtt_feed(const struct prtt_visit *v, uint64_t *flags)
{
    int error = get_ready(v);
    for (int i = 0; i < v->rows && !error; i++) {
        long lost = preemptions();
        error = give(v);
        flags[i] = hit_since(&lost, FLAG_HIT_TRAIN);
        if (!error) error = give(v);
        flags[i] |= hit_since(&lost, FLAG_HIT_DELAYED);
    }
    return error;
}

_Bool prtt_open(void)
{
    clock_choose();
    return mpi_open();
}

_Bool prtt_clock_is_tsc(void)
{
    return clock_is_tsc;
}

uint64_t prtt_clock_step(void)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 1000; i++) {
        uint64_t begin = clock_ticks(), now;
        do now = clock_ticks();
        while (now == begin);
        if (now - begin < least) least = now - begin;
    }
    return least;
}

void prtt_clock(uint64_t *ticks, int64_t *monotonic_ns)
{
    clock_pair(ticks, monotonic_ns);
}
