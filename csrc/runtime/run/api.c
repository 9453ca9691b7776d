/* Functions that a program calls through tracelib.h, the Fortran module or Python: regions, events and their names. */
#include "tracelib.h"

#include "buffer/buffer.h"
#include "common/user_message.h"
#include "counters/counters.h"
#include "run/gate.h"
#include "run/internal/pause.h"
#include "run/internal/without_mpi.h"
#include "run/labels.h"
#include "select/on_off.h"

enum { BEGINS = 1, ENDS = 2, REAL = 1 << 15 };                /* flags of events, docs/format.md */
enum { FIRST_OWN_TYPE = 40000000, LAST_OWN_TYPE = 69999999 }; /* Extrae's, some of which we give a meaning */

#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* The thread that records; NULL: nothing is recorded here. Also inside of MPI, for what MPI calls back. */
static struct thread *recorder(void)
{
    static bool used;
    struct thread *t = &self;
    if (UNLIKELY(thread_gate(t) != GATE_OPEN && thread_gate(t) != GATE_INSIDE) && !thread_open(t, NULL, NULL))
        return NULL;
    if (UNLIKELY(!__atomic_load_n(&used, __ATOMIC_RELAXED))) {
        __atomic_store_n(&used, true, __ATOMIC_RELAXED);
        run_wanted();
    }
    return t;
}

/* The stamp is taken when there is room: a flush lies before it. */
static uint64_t put_api_event(struct thread *t, uint32_t type, int64_t value, uint16_t flags)
{
    struct file_event *row = thread_row(t, TABLE_EVENTS);
    uint64_t time = clock_ticks();
    *row = (struct file_event){time, value, type, (uint16_t)t->index, flags};
    thread_commit(t, TABLE_EVENTS);
    return time;
}

/* Readings of this thread's counters as of `time`. */
static void store_readings(struct thread *t, uint64_t time, const uint64_t *values)
{
    const struct counter_set *set = counting_set(t);
    for (unsigned i = 0; i < set->n; i++)
        if (values[i] != NOT_READ) thread_store_event(t, time, set->counters[i].type, (int64_t)values[i]);
}

/* Counters outside the stamps, as of calls. */
static void put_with_readings(struct thread *t, int64_t number, uint16_t flags)
{
    uint64_t values[MOST_COUNTERS];
    thread_need_events(t, 1 + t->readings / 2);
    counting_alone_begin(t);
    if (flags & BEGINS) counting_read(t, values);
    uint64_t time = put_api_event(t, REGION_TYPE, number, flags);
    if (flags & ENDS) counting_read(t, values);
    counting_alone_end(t);
    store_readings(t, time, values);
}

/* Polls before and after belong to different regions: they do not share a row. */
static void put_region(struct thread *t, int64_t number, uint16_t flags)
{
    thread_end_polls(t);
    if (UNLIKELY(t->readings && !(t->mode & MODE_OFF)))
        put_with_readings(t, number, flags);
    else
        put_api_event(t, REGION_TYPE, number, flags);
}

static void region_begin(const char *name, size_t length)
{
    struct thread *t = recorder();
    uint32_t number = t ? labels_region((struct name){name, length}) : 0;
    if (!number) return;
    switch_region_begin(t, number, name, length);
    put_region(t, number, BEGINS);
}

/* 0 stands for the innermost region. */
static void region_end(const char *name, size_t length)
{
    struct thread *t = recorder();
    if (!t) return;
    uint32_t number = name ? labels_region((struct name){name, length}) : 0;
    if (!number && name) return;
    put_region(t, number, ENDS);
    switch_region_end(t, number);
}

static void region_parameter(const char *name, size_t length, double value)
{
    struct thread *t = recorder();
    uint32_t number = t ? labels_parameter((struct name){name, length}) : 0;
    union {
        double real;
        int64_t bits;
    } both = {.real = value};
    if (number) put_api_event(t, PARAMETER_TYPE, both.bits, (uint16_t)(number | REAL));
}

static void region_parameter_integer(const char *name, size_t length, long long value)
{
    struct thread *t = recorder();
    uint32_t number = t ? labels_parameter((struct name){name, length}) : 0;
    if (number) put_api_event(t, PARAMETER_TYPE, value, (uint16_t)number);
}

static void region_parallel(long long threads)
{
    struct thread *t = recorder();
    if (t) put_api_event(t, PARALLEL_TYPE, threads, 0);
}

static bool is_users(unsigned type)
{
    static bool said;
    if (type < FIRST_OWN_TYPE || type > LAST_OWN_TYPE) return true;
    if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        say("events of type %u are not recorded: types from %d to %d belong to the tracer", type, FIRST_OWN_TYPE,
            LAST_OWN_TYPE);
    return false;
}

static void record_event(unsigned type, long long value)
{
    struct thread *t = recorder();
    if (t && is_users(type)) put_api_event(t, type, value, 0);
}

static void label_type(unsigned type, const char *name, size_t length)
{
    if (recorder() && is_users(type)) labels_type(type, (struct name){name, length});
}

static void label_value(unsigned type, long long value, const char *name, size_t length)
{
    if (recorder() && is_users(type)) labels_value(type, value, (struct name){name, length});
}

__attribute__((visibility("default"))) const struct tracelib_functions tracelib_functions = {
    .bytes = sizeof tracelib_functions,
    .region_begin = region_begin,
    .region_end = region_end,
    .region_parameter = region_parameter,
    .region_parameter_integer = region_parameter_integer,
    .region_parallel = region_parallel,
    .event = record_event,
    .label_type = label_type,
    .label_value = label_value,
    .pause = tracing_pause,
    .resume = tracing_resume,
};
