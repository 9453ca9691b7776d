/* The time stamp counter of some processors does not count one by one: AMD's goes 100 million times a second as far as
 * a cycle of that rate has ticks, and a hypervisor may scale that. What stands below the step is the same in all stamps
 * or comes from rounding, but takes half a byte of each where they are compressed: it is not recorded. */
#include "clock/resolution.h"

#include <stdbool.h>

#include "clock/clock.h"

enum { READINGS = 256, LONGEST_DELAY = 31, LEAST_STEP = 16, MOST_STEP = 64 };
enum { PARTS = 16, TOLERANCE = PARTS + PARTS / 4 }; /* steps are tried in parts of a tick; readings are whole ticks */
enum { MOST_UNFIT = READINGS / 10 };                /* the process may have been put off its processor */

/* A counter that stands still most of the time shows no step. */
static bool moves_in_steps(const uint64_t *elapsed, size_t n, uint64_t step)
{
    size_t unfit = 0, short_ones = 0;
    for (size_t i = 0; i < n && unfit <= MOST_UNFIT && 2 * short_ones <= n; i++) {
        uint64_t parts = elapsed[i] * PARTS, rest = parts % step;
        unfit += rest > TOLERANCE && rest < step - TOLERANCE;
        short_ones += parts + TOLERANCE < step;
    }
    return unfit <= MOST_UNFIT && 2 * short_ones <= n;
}

uint64_t resolution_mask(const uint64_t *elapsed, size_t n)
{
    uint64_t step = MOST_STEP * PARTS, power = LEAST_STEP;
    while (step >= LEAST_STEP * PARTS && !moves_in_steps(elapsed, n, step)) step--;
    if (step < LEAST_STEP * PARTS) return UINT64_MAX;
    while (2 * power * PARTS <= step) power *= 2;
    return ~(power - 1);
}

void resolution_find(void)
{
    uint64_t elapsed[READINGS], delay = 1;
    if (!clock_is_tsc) return;
    for (int i = 0; i < READINGS; i++) {
        uint64_t before = clock_counter();
        for (int k = i % LONGEST_DELAY; k > 0; k--) {
            delay *= 5;
            __asm__ volatile("" : "+r"(delay)); /* as long as that number of multiplications */
        }
        elapsed[i] = clock_counter() - before;
    }
    clock_mask = resolution_mask(elapsed, READINGS);
}
