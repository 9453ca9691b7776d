#define _GNU_SOURCE
#include "counters/off_cpu.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "clock/start.h"
#include "common/tasks.h"
#include "record/phase.h"

enum { LONG_NS = 500000, WORTH_ASKING_NS = LONG_NS / 2 /* without a CPU: below it, why is not asked */ };

uint64_t off_cpu_long = UINT64_MAX; /* until the clock's rate is known */

static int64_t cpu_ns(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)) return 0;
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* The rate need not be right to more than a few per cent. */
static void find_long(void)
{
    const struct start *start = start_of_process();
    int64_t ns = clock_monotonic_ns() - start->clock.monotonic_ns;
    uint64_t ticks = clock_ticks() - start->clock.ticks;
    double a_tick_ns = ticks ? (double)ns / (double)ticks : 0;
    if (a_tick_ns > 0) __atomic_store_n(&off_cpu_long, (uint64_t)(LONG_NS / a_tick_ns), __ATOMIC_RELAXED);
}

/* Since the latest look: how long without a CPU, and how long of that it waited for one (-1: not known). */
static bool look_at_off_cpu(struct thread *t, int64_t least_ns, int64_t *off_ns, int64_t *delay_ns)
{
    int64_t wall = clock_monotonic_ns(), cpu = cpu_ns();
    *off_ns = wall - t->off_cpu.wall_ns - (cpu - t->off_cpu.cpu_ns);
    if (*off_ns < least_ns) return false;
    uint64_t delay = t->off_cpu.delay_ns == TASK_NOT_KNOWN ? TASK_NOT_KNOWN : task_run_delay_ns(t->tid);
    *delay_ns = delay == TASK_NOT_KNOWN ? -1 : (int64_t)(delay - t->off_cpu.delay_ns);
    if (*delay_ns > *off_ns) *delay_ns = *off_ns; /* the two clocks are not read at one moment */
    t->off_cpu.wall_ns = wall;
    t->off_cpu.cpu_ns = cpu;
    t->off_cpu.delay_ns = delay;
    return true;
}

static uint64_t made;

uint64_t off_cpu_events(void)
{
    return __atomic_load_n(&made, __ATOMIC_RELAXED);
}

static void fill_off_cpu_events(const struct thread *t, uint64_t time, uint16_t where, int64_t off_ns, int64_t delay_ns,
                                struct file_event events[2])
{
    uint16_t thread = (uint16_t)t->index;
    __atomic_fetch_add(&made, 2, __ATOMIC_RELAXED);
    events[0] = (struct file_event){time, off_ns, OFF_CPU_TYPE, thread, where};
    events[1] = (struct file_event){time, delay_ns, RUN_DELAY_TYPE, thread, where};
}

void off_cpu_begin(struct thread *t, struct file_event events[2])
{
    const struct start *start = start_of_process();
    bool first = t->tid == getpid();
    uint64_t delay = task_run_delay_ns(t->tid);
    if (__atomic_load_n(&off_cpu_long, __ATOMIC_RELAXED) == UINT64_MAX) find_long();
    t->off_cpu.since = first ? start->clock.ticks : clock_ticks();
    t->off_cpu.wall_ns = first ? start->clock.monotonic_ns : clock_monotonic_ns();
    t->off_cpu.cpu_ns = first ? start->cpu_ns : cpu_ns();
    t->off_cpu.delay_ns = first && delay != TASK_NOT_KNOWN ? 0 : delay;
    fill_off_cpu_events(t, clock_ticks(), OFFCPU_SHORT, 0, delay == TASK_NOT_KNOWN ? -1 : 0, events);
}

/* Not while the tracer measures itself: the thread's rows lie elsewhere then. Nothing counts of a time when recording
 * is off. */
static bool find_off_cpu(struct thread *t, int64_t least_ns, uint64_t time, uint16_t where, struct file_event events[2])
{
    int64_t off_ns, delay_ns;
    int error = errno;
    bool found = !t->measured && look_at_off_cpu(t, least_ns, &off_ns, &delay_ns) && !(t->mode & MODE_OFF);
    if (found) fill_off_cpu_events(t, time, where, off_ns, delay_ns, events);
    errno = error;
    return found;
}

bool off_cpu_look(struct thread *t, uint16_t where, struct file_event events[2])
{
    return !phase_is_closed() && find_off_cpu(t, WORTH_ASKING_NS, 0, where, events);
}

static uint16_t where_now(const struct thread *t)
{
    uint64_t now = clock_ticks();
    bool inside = thread_gate(t) == GATE_INSIDE;
    if (now - (inside ? t->spool->entered : t->off_cpu.since) < off_cpu_long) return OFFCPU_SHORT;
    return inside ? OFFCPU_INSIDE : OFFCPU_OUTSIDE;
}

bool off_cpu_last(struct thread *t, uint64_t time, struct file_event events[2])
{
    return find_off_cpu(t, 1, time, where_now(t), events);
}
