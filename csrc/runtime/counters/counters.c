#define _GNU_SOURCE
#include "counters/counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/settings.h"
#include "common/user_message.h"
#include "node/neighbours.h"
#include "record/store.h"

const char cpu_time_name[] = "CPU_NS";

static struct {
    unsigned n;      /* sets known; numbers count from 1 */
    unsigned first;  /* of those that are read */
    unsigned wanted; /* sets in TRACELIB_COUNTERS */
    int places[MOST_SETS];
    bool cpu_time_if_shared, cpu_time_always;
    struct counter_set sets[2 * MOST_SETS]; /* the user's, then the same with CPU time */
    char missing[1024];
    unsigned missing_names;
} counters;

uint32_t counter_type_by_name(const char *name)
{
    uint32_t h = 0x811c9dc5; /* FNV-1a */
    for (const char *p = name; *p; p++) h = (h ^ (unsigned char)*p) * 0x01000193;
    return NATIVE_COUNTER_BASE + h % 1000000;
}

static const struct backend *backend_of(struct counter *c)
{
    if (strcmp(c->name, cpu_time_name) == 0) {
        c->backend = COUNTERBACKEND_CPU_CLOCK;
        return &cpu_clock_backend;
    }
    if (strncmp(c->name, perf_prefix, strlen(perf_prefix)) == 0) {
        c->backend = COUNTERBACKEND_PERF_HARDWARE; /* or software: it finds out */
        return &perf_backend;
    }
    c->backend = COUNTERBACKEND_PAPI;
    return &papi_backend;
}

void counters_note(const char *name, const char *why)
{
    size_t used = strlen(counters.missing);
    snprintf(counters.missing + used, sizeof counters.missing - used, "%s%s (%s)", used ? ", " : "", name, why);
    counters.missing_names++;
}

/* Position behind the counters of its backend and those of earlier ones. */
static unsigned insert_counter(struct counter_set *set, const struct counter *c)
{
    unsigned at = set->n;
    while (at > 0 && set->counters[at - 1].backend > c->backend) at--;
    memmove(&set->counters[at + 1], &set->counters[at], (set->n - at) * sizeof *c);
    set->counters[at] = *c;
    set->n++;
    return at;
}

static void take_out_counter(struct counter_set *set, unsigned at)
{
    set->n--;
    memmove(&set->counters[at], &set->counters[at + 1], (set->n - at) * sizeof set->counters[0]);
}

/* Does the whole of its backend still count with this one? NULL, or why not. */
static const char *try_together(const struct counter_set *set, const struct backend *backend, unsigned at)
{
    const char *why;
    unsigned first = at;
    while (first > 0 && set->counters[first - 1].backend == set->counters[at].backend) first--;
    uint64_t values[MOST_COUNTERS];
    void *handle = backend->open(&set->counters[first], at + 1 - first, &why);
    if (!handle) return why;
    bool works = backend->read(handle, values);
    backend->close(handle);
    return works ? NULL : "it cannot be read";
}

static bool has_counter(const struct counter_set *set, const char *name)
{
    for (unsigned i = 0; i < set->n; i++)
        if (strcmp(set->counters[i].name, name) == 0) return true;
    return false;
}

const char *counters_find(const char *name, struct counter *c, const struct backend **backend)
{
    *c = (struct counter){.type = 0};
    strncpy(c->name, name, sizeof c->name - 1);
    *backend = backend_of(c);
    return strlen(name) < sizeof c->name ? (*backend)->find(c) : "no counter has so long a name";
}

static const char *add_counter(struct counter_set *set, const char *name)
{
    struct counter c;
    const struct backend *backend;
    if (has_counter(set, name)) return NULL;
    if (set->n == MOST_COUNTERS) return "too many counters in one set";
    const char *why = counters_find(name, &c, &backend);
    if (why) return why;
    unsigned at = insert_counter(set, &c);
    why = try_together(set, backend, at);
    if (why) take_out_counter(set, at);
    return why;
}

/* Two names of one set must not share an event type. */
static void separate_types(struct counter_set *set)
{
    for (unsigned i = 1; i < set->n; i++)
        for (unsigned k = 0; k < i; k++)
            if (set->counters[k].type == set->counters[i].type) set->counters[i].type++, k = 0;
}

static void read_set(char *names, struct counter_set *set)
{
    char *rest, *name = strtok_r(names, ", \t\n", &rest);
    for (; name; name = strtok_r(NULL, ", \t\n", &rest)) {
        const char *why = add_counter(set, name);
        if (why) counters_note(name, why);
    }
    separate_types(set);
}

/* CPU time goes on from set to set: if one of them asks for it, all read it. */
static void read_cpu_time_in_all(void)
{
    bool wanted = false;
    for (unsigned i = 0; i < counters.n; i++) wanted = wanted || has_counter(&counters.sets[i], cpu_time_name);
    for (unsigned i = 0; wanted && i < counters.n; i++) add_counter(&counters.sets[i], cpu_time_name);
}

/* "A,B;C,D": sets of which nothing counts here are left out. */
static void read_sets(const char *wanted)
{
    char *text = strdup(wanted), *rest, *names = text ? strtok_r(text, ";", &rest) : NULL;
    for (; names && counters.wanted < MOST_SETS; names = strtok_r(NULL, ";", &rest)) {
        read_set(names, &counters.sets[counters.n]);
        bool counts = counters.sets[counters.n].n > 0;
        counters.places[counters.wanted++] = counts ? (int)counters.n++ : -1;
    }
    free(text);
    read_cpu_time_in_all();
}

/* auto (the default), on or off. */
static void read_cpu_time(const char *wanted)
{
    if (!wanted || !wanted[0] || strcmp(wanted, "auto") == 0)
        counters.cpu_time_if_shared = true;
    else if (strcmp(wanted, "on") == 0)
        counters.cpu_time_always = true;
    else if (strcmp(wanted, "off") != 0)
        setting_trouble("TRACELIB_CPUTIME=%s is none of auto, on and off: CPU time is not read", wanted);
}

/* Every set once more, with CPU time; or a set of it alone. Returns the first of these. */
static unsigned add_cpu_time(void)
{
    unsigned users = counters.n, base = users ? users : 1;
    for (unsigned i = 0; i < base; i++) {
        struct counter_set *set = &counters.sets[users + i];
        if (users) *set = counters.sets[i];
        add_counter(set, cpu_time_name);
    }
    counters.n = users + base;
    return users + 1;
}

void counters_prepare(void)
{
    const char *wanted = getenv("TRACELIB_COUNTERS"), *papi = setting_text("TRACELIB_PAPI");
    if (papi && strcmp(papi, "share") != 0)
        setting_trouble("TRACELIB_PAPI=%s: only share is known; PAPI is left to a program that uses it itself", papi);
    read_cpu_time(getenv("TRACELIB_CPUTIME"));
    if (wanted) read_sets(wanted);
    counters.first = counters.cpu_time_always ? add_cpu_time() : 1;
    rotation_prepare(counters.first, counters.n + 1 - counters.first);
}

unsigned counters_most_readings(void)
{
    unsigned most = 0;
    for (unsigned i = 0; i < counters.n; i++)
        if (counters.sets[i].n > most) most = counters.sets[i].n;
    return 2 * (most + counters.cpu_time_if_shared);
}

const struct counter_set *counters_set(uint32_t number)
{
    return number ? &counters.sets[number - 1] : NULL;
}

/* Write the rows that are not there already: a program may have recorded before MPI_Init. */
static int write_table(struct store *store)
{
    uint64_t there = store->table[TABLE_COUNTERS].rows, number = 0;
    int error = 0;
    for (unsigned i = 0; i < counters.n; i++)
        for (unsigned k = 0; k < counters.sets[i].n && !error; k++) {
            if (number++ < there) continue;
            const struct counter *c = &counters.sets[i].counters[k];
            struct file_counter row = {.set = i + 1, .position = k, .type = c->type, .flags = c->backend};
            memcpy(row.name, c->name, sizeof row.name);
            error = store_append(store, TABLE_COUNTERS, &row, 1);
        }
    return error;
}

static void tell_shared(bool shared)
{
    if (counters.missing_names) say("not counted: %s", counters.missing);
    counters.missing_names = 0;
    if (shared && counters.cpu_time_if_shared && !message_quiet())
        say("there are more ranks than CPUs for them: the CPU time of each burst is recorded, too "
            "(TRACELIB_CPUTIME=off switches this off)");
}

bool counters_can_be_sampled(bool speaks)
{
    const struct counter_set *set = counters_set(rotation_current());
    bool any = false;
    for (unsigned i = 0; set && i < set->n; i++) {
        const struct counter *c = &set->counters[i];
        if (c->backend != COUNTERBACKEND_PAPI)
            any = true;
        else if (speaks)
            say("not sampled: %s (PAPI cannot read the counters of another thread; counters such as perf::INSTRUCTIONS "
                "can be sampled)",
                c->name);
    }
    return any;
}

void counters_started_alone(struct store *store)
{
    tell_shared(false);
    if (store) write_table(store);
}

void counters_started(struct store *store, int rank, int size)
{
    bool shared = neighbours_share_cpus(size); /* in any case: all ranks take part */
    bool adds = shared && counters.cpu_time_if_shared;
    if (adds) counters.first = add_cpu_time();
    rotation_start(counters.first, counters.n + 1 - counters.first, rank, counters.places, counters.wanted);
    if (rank == 0) tell_shared(shared);
    if (store) write_table(store);
}
