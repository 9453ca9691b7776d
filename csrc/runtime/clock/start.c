#include "clock/start.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "clock/clock.h"
#include "common/user_message.h"

static struct start start;

static void choose_clock(void)
{
    struct timespec now, cpu;
    clock_choose();
    clock_pair(&start.clock.ticks, &start.clock.monotonic_ns);
    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    start.cpu_ns = cpu.tv_sec * INT64_C(1000000000) + cpu.tv_nsec;
    start.realtime_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

const struct start *start_of_process(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose_clock);
    return &start;
}

/* Loaded into every process that inherits LD_PRELOAD, mpirun and sh among them: it only looks at the clock. */
__attribute__((constructor)) static void start_clock_at_load(void)
{
    start_of_process();
    debug("loaded into process %d", (int)getpid());
}
