/* Time stamps: the invariant time stamp counter where there is one, else CLOCK_MONOTONIC in nanoseconds. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

extern bool clock_is_tsc;
extern uint64_t clock_mask; /* the bits of the counter that are stamped (resolution.h); 0: it is not the clock */

/* Decide which clock stamps use: TRACELIB_CLOCK=tsc|monotonic, else by what the processor guarantees.
 * Context: once, before any stamp: start_of_process (start.h) calls it. */
void clock_choose(void);

/* Report a TRACELIB_CLOCK that is unknown or cannot be had. Not a part of clock_choose: only a traced process reports.
 * Context: while the run is prepared; see settings.h. */
void clock_check(void);

/* Return CLOCK_MONOTONIC in ns.
 * Context: any thread, signal handlers, no lock. */
static inline int64_t clock_monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Return the raw time stamp counter; 0 on processors without one.
 * Context: any thread, signal handlers, no lock. */
static inline uint64_t clock_counter(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    uint64_t v;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
    return v;
#else
    return 0;
#endif
}

/* Return a time stamp: masked ticks of the counter, or ns of CLOCK_MONOTONIC where the counter is not the clock.
 * Context: any thread, signal handlers, no lock. clock_mask changes only before the first record. */
static inline uint64_t clock_ticks(void)
{
    uint64_t mask = clock_mask;
    return __builtin_expect(mask != 0, true) ? clock_counter() & mask : (uint64_t)clock_monotonic_ns();
}

/* Read a stamp and CLOCK_MONOTONIC (ns) as close together as possible: the tightest pair of eight tries.
 * Context: any thread, signal handlers, no lock. */
void clock_pair(uint64_t *ticks, int64_t *monotonic_ns);

#endif
