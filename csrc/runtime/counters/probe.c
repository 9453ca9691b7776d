#define _GNU_SOURCE
#include "counters/probe.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock/clock.h"
#include "counters/counters.h"

enum { ROUNDS = 31, READINGS = 100, RESTS = 15, REST_NS = 1000000 };

static const char *name(unsigned i)
{
    static char text[sizeof((struct counter *)0)->name];
    const char *event = i ? perf_event_name(i - 1) : cpu_time_name;
    if (!event) return NULL;
    strcpy(text, i ? perf_prefix : "");
    return strcat(text, event);
}

static int compare_counter_names(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare_counter_names);
    return values[n / 2];
}

static double reading_ns(const struct backend *backend, void *handle)
{
    double rounds[ROUNDS];
    uint64_t values[1];
    for (int i = 0; i < ROUNDS; i++) {
        int64_t begin = clock_monotonic_ns();
        for (int k = 0; k < READINGS; k++) backend->read(handle, values);
        rounds[i] = (double)(clock_monotonic_ns() - begin) / READINGS;
    }
    return median(rounds, ROUNDS);
}

/* One reading, or none, after a rest: the difference is the reading. */
static double after_rest_ns(const struct backend *backend, void *handle)
{
    uint64_t values[1];
    nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
    int64_t begin = clock_monotonic_ns();
    if (handle) backend->read(handle, values);
    return (double)(clock_monotonic_ns() - begin);
}

static double rested_ns(const struct backend *backend, void *handle)
{
    double with[RESTS], without[RESTS];
    for (int i = 0; i < RESTS; i++) {
        with[i] = after_rest_ns(backend, handle);
        without[i] = after_rest_ns(backend, NULL);
    }
    double difference = median(with, RESTS) - median(without, RESTS);
    return difference > 0 ? difference : 0;
}

static void counter(const char *wanted, struct tracelib_probe *found)
{
    struct counter c;
    const struct backend *backend;
    uint64_t values[1];
    *found = (struct tracelib_probe){.trouble = counters_find(wanted, &c, &backend)};
    found->backend = c.backend;
    if (found->trouble) return;
    found->type = c.type;
    void *handle = backend->open(&c, 1, &found->trouble);
    if (!handle) return;
    found->trouble = backend->read(handle, values) ? NULL : "it cannot be read";
    if (!found->trouble) {
        found->reading_ns = reading_ns(backend, handle);
        found->rested_ns = rested_ns(backend, handle);
    }
    backend->close(handle);
}

__attribute__((visibility("default"))) const struct tracelib_probes tracelib_probes = {name, counter};
