#include "clock.h"

#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool clock_is_tsc;

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
    const char *wanted = getenv("TRACELIB_CLOCK");
    clock_is_tsc = counter_is_invariant() && !(wanted && strcmp(wanted, "monotonic") == 0);
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
