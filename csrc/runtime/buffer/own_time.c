#include "buffer/own_time.h"

#include "clock/clock.h"
#include "places/places.h"

static struct {
    uint64_t ticks, cpu_ns; /* of the measurement; ticks 0: there was none */
    uint64_t look;          /* ticks: what a stack took then */
    uint64_t at;            /* ticks */
    int64_t at_ns;          /* CLOCK_MONOTONIC */
} measured;

static int put_own_time(struct store *store, uint64_t ticks, uint64_t cpu_ns)
{
    int error = store_put_integer(store, AT_OVERHEAD_TICKS, ticks);
    return error ? error : store_put_integer(store, AT_OVERHEAD_CPU_NS, cpu_ns);
}

void own_time_measured(struct store *store, uint64_t ticks, uint64_t cpu_ns)
{
    measured.ticks = ticks;
    measured.cpu_ns = cpu_ns;
    measured.look = places_look_ticks();
    places_forget_looks();
    clock_pair(&measured.at, &measured.at_ns);
    if (store) (void)put_own_time(store, ticks, cpu_ns); /* a later one may succeed */
}

static uint64_t as_ns(uint64_t ticks)
{
    uint64_t now;
    int64_t now_ns;
    clock_pair(&now, &now_ns);
    if (now <= measured.at || now_ns <= measured.at_ns) return 0;
    return (uint64_t)((double)ticks * (double)(now_ns - measured.at_ns) / (double)(now - measured.at));
}

int own_time_tell(struct store *store)
{
    uint64_t look = places_look_ticks();
    if (!measured.ticks || look <= measured.look) return 0;
    uint64_t more = look - measured.look;
    return put_own_time(store, measured.ticks + more, measured.cpu_ns ? measured.cpu_ns + as_ns(more) : 0);
}
