#include <time.h>

/* Uses that much CPU time, almost all of it in the function that this becomes a part of. */
static inline __attribute__((always_inline)) void for_a_while(double seconds)
{
    static volatile double sink __attribute__((unused));
    struct timespec now, begin;
    double s = 0;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        for (int i = 1; i < 100000; i++) s += 1.0 / i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) < seconds);
    sink = s;
}
