#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/counters.h"
#include "record/thread.h"

/* One thread's counters. */
struct counting {
    const struct counter_set *set;
    unsigned first[BACKENDS + 1]; /* position of each backend's first counter */
    void *handle[BACKENDS];
    uint64_t hidden[MOST_COUNTERS]; /* counted while the readings stand still: by the tracer, by polls that failed */
    uint32_t changes;               /* of `hidden`, odd while the tracer works: other threads do not read then */
    pid_t tid;                      /* of the thread that counts */
};

static const struct backend *const backends[BACKENDS] = {
    [COUNTERBACKEND_CPU_CLOCK] = &cpu_clock_backend,
    [COUNTERBACKEND_PERF_SOFTWARE] = &perf_backend,
    [COUNTERBACKEND_PERF_HARDWARE] = &perf_backend,
    [COUNTERBACKEND_PAPI] = &papi_backend,
};

static void read_backend(const struct counting *c, int backend, uint64_t *values)
{
    unsigned first = c->first[backend], end = c->first[backend + 1];
    if (first == end) return;
    if (c->handle[backend] && backends[backend]->read(c->handle[backend], values + first)) return;
    for (unsigned i = first; i < end; i++) values[i] = NOT_READ;
}

static void read_forwards(const struct counting *c, uint64_t *values)
{
    for (int b = 0; b < BACKENDS; b++) read_backend(c, b, values);
}

/* Read the counters backwards: the last one at an exit is the first at the next entry, so that reading the others is
 * not in its bursts. */
static void read_backwards(const struct counting *c, uint64_t *values)
{
    for (int b = BACKENDS - 1; b >= 0; b--) read_backend(c, b, values);
}

static void subtract_hidden(const struct counting *c, uint64_t *values)
{
    for (unsigned i = 0; i < c->set->n; i++)
        if (values[i] != NOT_READ) values[i] -= c->hidden[i];
}

static void change_begins(struct counting *c)
{
    __atomic_store_n(&c->changes, c->changes + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void change_ends(struct counting *c)
{
    __atomic_store_n(&c->changes, c->changes + 1, __ATOMIC_RELEASE);
}

static uint64_t *slot(const struct thread *t)
{
    return (uint64_t *)t->rows[TABLE_COUNTS] + t->spool->count[TABLE_COUNTS];
}

void counting_read(const struct thread *t, uint64_t *values)
{
    read_forwards(t->counting, values);
    subtract_hidden(t->counting, values);
}

void counting_enter(struct thread *t)
{
    counting_read(t, slot(t));
}

void counting_exit(struct thread *t)
{
    uint64_t *values = slot(t) + t->counting->set->n;
    read_backwards(t->counting, values);
    subtract_hidden(t->counting, values);
    if (rotation_by_time || rotation_by_collectives) rotation_look(t);
}

void counting_left(struct thread *t)
{
    memcpy(slot(t) + t->counting->set->n, slot(t), t->counting->set->n * sizeof *slot(t));
}

static void hide_counts(struct counting *c, const uint64_t *since, const uint64_t *until)
{
    for (unsigned i = 0; i < c->set->n; i++)
        if (since[i] != NOT_READ && until[i] != NOT_READ) c->hidden[i] += until[i] - since[i];
}

void counting_skip(struct thread *t)
{
    const uint64_t *values = slot(t);
    change_begins(t->counting);
    hide_counts(t->counting, values, values + t->counting->set->n);
    change_ends(t->counting);
}

void counting_hold(struct thread *t, struct counting_pause *pause)
{
    if (!t->readings) return;
    change_begins(t->counting);
    read_forwards(t->counting, pause->since);
}

void counting_resume(struct thread *t, const struct counting_pause *pause)
{
    uint64_t now[MOST_COUNTERS];
    if (!t->readings) return;
    read_backwards(t->counting, now);
    hide_counts(t->counting, pause->since, now);
    change_ends(t->counting);
}

static void read_other(const struct counting *c, uint64_t *values)
{
    for (int b = 0; b < BACKENDS; b++) {
        unsigned first = c->first[b], end = c->first[b + 1];
        bool can = c->handle[b] && backends[b]->read_other;
        if (first < end && can && backends[b]->read_other(c->handle[b], c->tid, values + first)) continue;
        for (unsigned i = first; i < end; i++) values[i] = NOT_READ;
    }
}

void counting_read_other(const struct thread *t, uint64_t *values)
{
    read_other(t->counting, values);
    subtract_hidden(t->counting, values);
}

uint32_t counting_changes(const struct thread *t)
{
    return __atomic_load_n(&t->counting->changes, __ATOMIC_ACQUIRE);
}

void counting_alone_begin(struct thread *t)
{
    change_begins(t->counting);
}

void counting_alone_end(struct thread *t)
{
    change_ends(t->counting);
}

const struct counter_set *counting_set(const struct thread *t)
{
    return t->counting->set;
}

static void close_set(struct counting *c)
{
    for (int b = 0; b < BACKENDS; b++)
        if (c->handle[b]) backends[b]->close(c->handle[b]);
    free(c);
}

/* A backend that fails here, in this thread alone, leaves its readings NOT_READ. */
static struct counting *open_set(const struct counter_set *set)
{
    struct counting *c = calloc(1, sizeof *c);
    const char *why;
    if (!c) return NULL;
    c->set = set;
    c->tid = (pid_t)syscall(SYS_gettid);
    for (int b = 0; b < BACKENDS; b++) {
        unsigned end = c->first[b];
        while (end < set->n && (int)set->counters[end].backend == b) end++;
        c->first[b + 1] = end;
        if (end > c->first[b]) c->handle[b] = backends[b]->open(set->counters + c->first[b], end - c->first[b], &why);
    }
    return c;
}

static bool reads_cpu_time(const struct counting *c)
{
    return c && c->set->counters[0].backend == COUNTERBACKEND_CPU_CLOCK;
}

bool counting_cpu_time(const struct thread *t)
{
    return reads_cpu_time(t->counting);
}

/* The old set ends first: two of them may want the same registers. */
void counting_change(struct thread *t, uint32_t number)
{
    const struct counter_set *set = counters_set(number);
    uint64_t cpu_time = reads_cpu_time(t->counting) ? t->counting->hidden[0] : 0; /* goes on from set to set */
    if (t->counting) close_set(t->counting);
    t->counting = set ? open_set(set) : NULL;
    t->set = t->counting ? number : 0;
    t->readings = t->counting ? 2 * set->n : 0;
    if (reads_cpu_time(t->counting)) t->counting->hidden[0] = cpu_time;
}

/* All readings but the CPU clock's begin at 0 with the set. */
static void zero_at_change(struct counting *c)
{
    uint64_t now[MOST_COUNTERS];
    read_backwards(c, now);
    for (unsigned i = c->first[COUNTERBACKEND_CPU_CLOCK + 1]; i < c->set->n; i++)
        c->hidden[i] = now[i] == NOT_READ ? 0 : now[i];
}

/* Readings of the call that is going on cannot be had from another set. */
static void forget_entry(struct thread *t)
{
    for (unsigned i = 0; i < t->readings / 2; i++) slot(t)[i] = NOT_READ;
}

void counting_begin(struct thread *t)
{
    counting_change(t, rotation_current());
}

void counting_change_inside(struct thread *t)
{
    forget_entry(t);
    if (t->counting) zero_at_change(t->counting);
}

void counting_end(struct thread *t)
{
    if (t->counting) close_set(t->counting);
    t->counting = NULL;
    t->readings = 0;
}
