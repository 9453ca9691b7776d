#include "clock/clock.h"

#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "common/settings.h"

bool clock_is_tsc;
uint64_t clock_mask;

/* Constant rate, never stops, the same on all cores: what "invariant" promises. */
static bool counter_is_invariant(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
#elif defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

void clock_choose(void)
{
    const char *wanted = setting_text("TRACELIB_CLOCK");
    clock_is_tsc = counter_is_invariant() && !(wanted && strcmp(wanted, "monotonic") == 0);
    clock_mask = clock_is_tsc ? UINT64_MAX : 0;
}

void clock_check(void)
{
    const char *wanted = setting_text("TRACELIB_CLOCK"), *used = clock_is_tsc ? "tsc" : "monotonic";
    if (wanted && strcmp(wanted, "monotonic") != 0 && strcmp(wanted, "tsc") != 0)
        setting_trouble("TRACELIB_CLOCK=%s is neither tsc nor monotonic; using %s", wanted, used);
    else if (wanted && strcmp(wanted, used) != 0)
        setting_trouble("TRACELIB_CLOCK=tsc: the time stamp counter is not invariant here; using monotonic");
}

void clock_pair(uint64_t *ticks, int64_t *monotonic_ns)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 8; i++) {
        uint64_t before = clock_ticks();
        int64_t now = clock_monotonic_ns();
        uint64_t after = clock_ticks();
        if (after - before < best) {
            best = after - before;
            *ticks = clock_is_tsc ? before + (after - before) / 2 : (uint64_t)now;
            *monotonic_ns = now;
        }
    }
}
