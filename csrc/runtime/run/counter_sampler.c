#define _GNU_SOURCE
#include "run/internal/counter_sampler.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "buffer/buffer.h"
#include "clock/clock.h"
#include "common/descriptors.h"
#include "common/own_thread.h"
#include "common/settings.h"
#include "common/user_message.h"
#include "counters/counters.h"
#include "counters/trigger.h"
#include "record/store.h"
#include "record/thread.h"
#include "record/threads.h"
#include "run/internal/thread_recording.h"
#include "select/on_off.h"

/* A reading that took longer than this (about 10 us) has no certain time: the sampler lost its CPU. */
enum { LONGEST_READING_TICKS = 1 << 15, TRIES = 3, LEAST_PERIOD_NS = 10000, STOP_WAIT_S = 2 };

static struct {
    int64_t period_ns; /* 0: by triggers */
    bool wanted, running;
    int stop, descriptor; /* readable when the thread is to end; what it waits for */
    pthread_t thread;
} sampler = {.stop = -1};

#define NS_PER_S INT64_C(1000000000)

/* The sampler's own. */
static int64_t due_ns;
static uint64_t missed;

int64_t counter_sampler_prepare(void)
{
    const char *text = setting_text("TRACELIB_SAMPLE");
    if (!text) return 0;
    if (strchr(text, ':')) {
        const char *why = trigger_choose(text);
        sampler.wanted = !why;
        if (why) setting_trouble("TRACELIB_SAMPLE=%s: %s; no counters are sampled", text, why);
        return 0;
    }
    sampler.period_ns = setting_time_ns("TRACELIB_SAMPLE");
    sampler.wanted = sampler.period_ns >= LEAST_PERIOD_NS;
    if (sampler.period_ns && !sampler.wanted)
        setting_trouble("TRACELIB_SAMPLE=%s is less than 10us; nothing is sampled", text);
    return sampler.wanted ? sampler.period_ns : 0;
}

/* Threads that a round looks at: all threads, or one; for each that is due `times` at once. */
struct round {
    bool one;
    uint32_t thread;
    uint64_t times;
};

static bool is_computing(const struct thread *t)
{
    return thread_gate(t) == GATE_OPEN && __atomic_load_n(&t->readings, __ATOMIC_RELAXED);
}

/* The thread was outside MPI all the while: since `entered` it has made no call. */
static bool read_once(const struct thread *t, uint64_t *time, uint64_t *values)
{
    uint64_t entered = __atomic_load_n(&t->spool->entered, __ATOMIC_ACQUIRE);
    uint32_t changes = counting_changes(t);
    if (changes & 1 || !is_computing(t)) return false;
    uint64_t begin = clock_ticks();
    counting_read_other(t, values);
    uint64_t took = clock_ticks() - begin;
    *time = begin + took / 2;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return took < LONGEST_READING_TICKS && is_computing(t) && counting_changes(t) == changes &&
           __atomic_load_n(&t->spool->entered, __ATOMIC_RELAXED) == entered;
}

static bool has_room_for_sample(const struct thread *t)
{
    return self.capacity[TABLE_EVENTS] >= self.spool->count[TABLE_EVENTS] + counting_set(t)->n;
}

static void store_sample(const struct thread *t, uint64_t time, const uint64_t *values)
{
    const struct counter_set *set = counting_set(t);
    for (unsigned i = 0; i < set->n; i++) {
        if (values[i] == NOT_READ) continue;
        *(struct file_event *)thread_row(&self, TABLE_EVENTS) =
            (struct file_event){time, (int64_t)values[i], set->counters[i].type, SAMPLER_THREAD, (uint16_t)t->index};
        thread_commit(&self, TABLE_EVENTS);
    }
}

static void sample_thread(struct thread *t, void *data)
{
    const struct round *round = data;
    uint64_t time, values[MOST_COUNTERS];
    if (t == &self || (round->one && t->index != round->thread) || !t->counting) return;
    uint64_t times = round->one ? trigger_take(t->trigger) : round->times;
    for (int i = 0; i < TRIES; i++) {
        if (!is_computing(t)) return;
        if (!has_room_for_sample(t) || !read_once(t, &time, values)) continue;
        store_sample(t, time, values);
        missed += times ? times - 1 : 0;
        return;
    }
    missed += times;
}

static void note_missed(void)
{
    if (missed) thread_store_event(&self, clock_ticks(), MISSED_SAMPLES_TYPE, (int64_t)missed);
    missed = 0;
}

/* The buffer is emptied before, for a thread that ends may wait for this round. */
static void sample_round(struct round round)
{
    thread_need_events(&self, self.capacity[TABLE_EVENTS] / 2);
    if (!store_begin()) return;
    if (!switch_is_off()) threads_each(sample_thread, &round);
    store_end();
    note_missed();
}

/* Periods that have passed while we had no CPU are not made up for. */
static uint64_t periods_passed(void)
{
    uint64_t n = (uint64_t)(clock_monotonic_ns() - due_ns) / (uint64_t)sampler.period_ns + 1;
    due_ns += (int64_t)n * sampler.period_ns;
    return n;
}

/* False: to stop is due, or the program has closed the descriptor that would tell. */
static bool sample_by_time(void)
{
    struct pollfd told = {.fd = sampler.descriptor, .events = POLLIN};
    int64_t left_ns = due_ns - clock_monotonic_ns();
    if (left_ns < 0) left_ns = 0;
    struct timespec left = {.tv_sec = left_ns / NS_PER_S, .tv_nsec = left_ns % NS_PER_S};
    int n = ppoll(&told, 1, &left, NULL);
    if (n == 0) sample_round((struct round){.times = periods_passed()});
    return n == 0 || (n < 0 && errno == EINTR);
}

/* Take the samples that the kernel says are due: it says so once, so no other function may ask. */
static bool sample_by_triggers(void)
{
    enum { MOST = 16 };
    struct epoll_event ready[MOST];
    int n = epoll_wait(sampler.descriptor, ready, MOST, -1);
    for (int i = 0; i < n; i++) {
        if (ready[i].data.u32 == NO_THREAD) return false;
        sample_round((struct round){.one = true, .thread = ready[i].data.u32});
    }
    return n >= 0 || errno == EINTR;
}

static void *run_counter_sampler(void *unused)
{
    prctl(PR_SET_NAME, own_thread_name);
    prctl(PR_SET_TIMERSLACK, 1);
    if (!thread_join_as_sampler()) return unused;
    due_ns = clock_monotonic_ns() + sampler.period_ns;
    while (sampler.period_ns ? sample_by_time() : sample_by_triggers()) continue;
    return unused;
}

void counter_sampler_start(bool speaks)
{
    if (!sampler.wanted || sampler.running) return;
    if (!counters_can_be_sampled(speaks)) {
        if (speaks && !sampler.period_ns)
            say("TRACELIB_SAMPLE: there are no counters to sample; name some "
                "(TRACELIB_COUNTERS=perf::PAGE-FAULTS,CPU_NS)");
        return;
    }
    int stop = eventfd(0, EFD_CLOEXEC);
    if (stop >= 0) sampler.stop = descriptor_out_of_the_way(stop);
    sampler.descriptor = sampler.period_ns ? sampler.stop : trigger_descriptor(sampler.stop);
    int error = sampler.descriptor < 0 ? errno : own_thread_start(&sampler.thread, run_counter_sampler);
    sampler.running = !error;
    if (error) say("no counters are sampled (%s)", strerror(error));
}

/* A signal handler may have interrupted anything and call exit: then the sampler may wait for what is held here, and is
 * left alone. Its rows are in a buffer as everybody's. */
void counter_sampler_stop(void)
{
    const uint64_t one = 1;
    struct timespec until;
    if (!sampler.running) return;
    sampler.running = false;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += STOP_WAIT_S;
    if (write(sampler.stop, &one, sizeof one) == sizeof one && pthread_timedjoin_np(sampler.thread, NULL, &until) == 0)
        close(sampler.stop);
    else
        pthread_detach(sampler.thread);
}

void counter_sampler_forget(void)
{
    sampler.running = sampler.wanted = false;
}
