#define _GNU_SOURCE
#include "sampling/sampling.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock/clock.h"
#include "common/descriptors.h"
#include "common/own_thread.h"
#include "common/settings.h"
#include "common/tasks.h"
#include "common/user_message.h"
#include "places/places.h"
#include "places/samples.h"
#include "record/phase.h"
#include "record/rank_file.h"
#include "record/space_limit.h"
#include "record/threads.h"
#include "sampling/internal/by_perf.h"
#include "sampling/internal/by_signal.h"
#include "sampling/internal/task.h"
#include "select/on_off.h"

enum {
    LONGEST_ROUND_MS = 100,
    SHORTEST_ROUND_MS = 10,
    PERIODS_A_ROUND = 20,
    STOP_WAIT_S = 2,
    ROWS = 1024,
    SHARE_OF_LIMIT = 8,
    WORTH_PERIODS = 10
};
enum { LEAST_PERIOD_NS = 1000000 };          /* the kernel's own timers are not finer */
#define WORTH_A_FILE_NS UINT64_C(1000000000) /* CPU time after which a program without MPI gets one */

static struct {
    bool wanted, running, by_signal, speaks, on_demand, directly;
    bool given_up;     /* no further sample is taken */
    const char *asked; /* TRACELIB_SAMPLER: "perf" or "signal"; NULL: what is better */
    uint64_t period_ns;
    int stop; /* readable when the thread is to end */
    int32_t tid;
    pthread_t thread;
} sampler = {.stop = -1};

/* Our thread's own, and then those of who has ended it. */
static struct task *tasks[MOST_TASKS];
static unsigned task_count;
static uint32_t tasks_met;
static struct file_sample rows[ROWS];
static unsigned row_count;

void sampling_prepare(int64_t period_ns)
{
    const char *by = setting_text("TRACELIB_SAMPLER");
    if (by && strcmp(by, "perf") != 0 && strcmp(by, "signal") != 0) {
        setting_trouble("TRACELIB_SAMPLER=%s is neither perf nor signal; the better one is taken", by);
        by = NULL;
    }
    sampler.asked = by;
    sampler.wanted = period_ns > 0;
    sampler.period_ns = period_ns < LEAST_PERIOD_NS ? LEAST_PERIOD_NS : (uint64_t)period_ns;
}

bool sampling_is_wanted(void)
{
    return sampler.wanted;
}

/* Programs with Python are sampled by the signal: only the thread itself can tell its frames of Python. */
static void choose_way(bool has_python)
{
    const char *asked = sampler.asked, *why = NULL;
    sampler.by_signal = asked ? strcmp(asked, "signal") == 0 : has_python;
    if (!sampler.by_signal) why = by_perf_prepare();
    if (why && sampler.speaks) say("samples are taken by a signal: perf_event_open is %s", why);
    sampler.by_signal |= why != NULL;
}

static void open_task(struct task *t)
{
    bool open = sampler.by_signal ? by_signal_open(t, sampler.period_ns) : by_perf_open(t, sampler.period_ns);
    static bool said;
    if (!open && !said && sampler.speaks && task_cpu_ns(t->tid, &t->cpu_seen))
        say("a thread is not sampled (%s)", strerror(errno));
    said |= !open;
}

static struct task *find_task(int32_t tid)
{
    for (unsigned i = 0; i < task_count; i++)
        if (tasks[i]->tid == tid) return tasks[i];
    return NULL;
}

/* `cpu_before`: of threads that were there before us, what they have used is nobody's. */
static void meet_task(int32_t tid, bool at_start)
{
    struct task *t = task_count < MOST_TASKS ? calloc(1, sizeof *t) : NULL;
    if (!t) return;
    *t = (struct task){
        .tid = tid, .number = tasks_met++, .thread = SAMPLER_THREAD, .timer = NO_TIMER, .fd = -1, .met = clock_ticks()};
    if (!task_cpu_ns(tid, &t->cpu_seen)) {
        free(t);
        return;
    }
    t->cpu_before = at_start ? t->cpu_seen : 0;
    t->begins = at_start;
    tasks[task_count++] = t;
    open_task(t);
}

static void mark_task(int32_t tid, bool at_start)
{
    struct task *t = find_task(tid);
    if (!t && tid != sampler.tid) meet_task(tid, at_start);
    if (!t) t = find_task(tid);
    if (t) t->seen = task_cpu_ns(tid, &t->cpu_seen);
}

static void mark_seen(int32_t tid, void *at_start)
{
    mark_task(tid, *(bool *)at_start);
}

/* A new thread may be missed until the next look. */
static void look_at_tasks(bool at_start)
{
    for (unsigned i = 0; i < task_count; i++) tasks[i]->seen = false;
    if (tasks_each(mark_seen, &at_start)) return;
    for (unsigned i = 0; i < task_count; i++) tasks[i]->seen = true;
}

static void number_task(struct thread *thread, void *unused)
{
    struct task *t = find_task(thread->tid);
    (void)unused;
    if (!t) return;
    t->thread = (uint16_t)thread->index;
    t->ours = thread->index == SAMPLER_THREAD;
}

/* Is there room for samples? A limit is for calls first. */
static bool is_admitted(const struct store *store)
{
    uint64_t bytes = store->table[TABLE_SAMPLES].rows * sizeof rows[0];
    return !limit_stopped() && (!limit_bytes() || bytes < limit_bytes() / SHARE_OF_LIMIT);
}

/* Before a file is there they wait. */
static void write_sample_rows(void)
{
    struct store *store = row_count ? rank_file_store() : NULL;
    if (!store) {
        if (rank_file.error) row_count = 0;
        return;
    }
    int error = is_admitted(store) ? places_started(store) : 0;
    if (!error && is_admitted(store)) error = store_append(store, TABLE_SAMPLES, rows, row_count);
    if (error) rank_file_failed(error);
    row_count = 0;
}

static bool is_on; /* the program, or a limit in time, has not switched recording off */

static void take_row(struct task *t, const struct file_sample *row)
{
    if (t->ours || !is_on) return;
    if (row_count == ROWS) write_sample_rows();
    if (row_count == ROWS) {
        t->lost++;
        return;
    }
    rows[row_count] = *row;
    rows[row_count++].thread = t->thread;
}

static void take_all(struct task *t)
{
    const struct file_sample begin = {.time = t->met, .task = t->number, .flags = SAMPLE_BEGIN};
    if (t->begins) take_row(t, &begin);
    t->begins = false;
    if (sampler.by_signal)
        by_signal_take(t, take_row);
    else
        by_perf_take(t, take_row);
}

/* End a task. The CPU time since its last sample belongs to the thread, too. */
static void end_task(struct task *t)
{
    struct file_sample row = {.time = clock_ticks(), .task = t->number, .lost = t->lost, .flags = SAMPLE_END};
    if (t->cpu_seen > t->cpu_before) row.cpu_ns = t->cpu_seen - t->cpu_before;
    if (sampler.by_signal) row.flags |= SAMPLE_BY_SIGNAL;
    take_row(t, &row);
}

static void stop_task(struct task *t)
{
    if (sampler.given_up) return; /* it is stopped */
    if (sampler.by_signal)
        by_signal_stop(t);
    else
        by_perf_stop(t);
}

static void forget_gone(void)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < task_count; i++) {
        struct task *t = tasks[i];
        tasks[kept] = t;
        kept += t->seen;
        if (t->seen) continue;
        stop_task(t);
        take_all(t);
        end_task(t);
        if (sampler.by_signal)
            by_signal_close(t);
        else
            by_perf_close(t);
        free(t);
    }
    task_count = kept;
}

/* Python has come. */
static void change_to_signal(void)
{
    if (by_signal_look()) return;
    for (unsigned i = 0; i < task_count; i++) {
        by_perf_stop(tasks[i]);
        take_all(tasks[i]);
        by_perf_close(tasks[i]);
    }
    sampler.by_signal = true;
    for (unsigned i = 0; i < task_count; i++) open_task(tasks[i]);
}

static uint64_t cpu_of_all(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < task_count; i++) sum += tasks[i]->cpu_seen;
    return sum;
}

/* The file first: it gets the paths, then the samples. */
static void round_once(bool at_start)
{
    bool has_python = samples_look_around();
    look_at_tasks(at_start);
    if (sampler.on_demand && phase_now() == PHASE_PREPARED && cpu_of_all() > WORTH_A_FILE_NS) rank_file_demand();
    if (!store_begin()) return;
    is_on = !switch_is_off();
    threads_each(number_task, NULL);
    for (unsigned i = 0; i < task_count; i++) take_all(tasks[i]);
    forget_gone();
    if (has_python && !sampler.by_signal && !sampler.asked) change_to_signal();
    write_sample_rows();
    store_end();
}

static void stop_sampling(const char *why)
{
    for (unsigned i = 0; i < task_count; i++) stop_task(tasks[i]);
    sampler.given_up = true;
    if (sampler.speaks) say("no %ssamples are taken (%s)", task_count ? "further " : "", why);
}

/* Return the ms from one look at the rings to the next; samples of the kernel wait there. */
static int round_ms(void)
{
    uint64_t ms = sampler.period_ns * PERIODS_A_ROUND / 1000000;
    return ms > LONGEST_ROUND_MS ? LONGEST_ROUND_MS : ms < SHORTEST_ROUND_MS ? SHORTEST_ROUND_MS : (int)ms;
}

static void *run_task_sampler(void *unused)
{
    struct pollfd told = {.fd = sampler.stop, .events = POLLIN};
    int n = 0;
    prctl(PR_SET_NAME, own_thread_name);
    sampler.tid = (int32_t)syscall(SYS_gettid);
    samples_follow_libraries(true);
    choose_way(samples_look_around());
    for (bool at_start = true; n == 0 || (n < 0 && errno == EINTR); at_start = false) {
        const char *why = sampler.by_signal ? by_signal_look() : NULL;
        if (why) {
            stop_sampling(why);
            break;
        }
        round_once(at_start);
        n = poll(&told, 1, round_ms());
    }
    return unused;
}

void sampling_start_alone(bool directly)
{
    sampler.on_demand = true;
    sampler.directly = directly;
    sampling_start(true);
}

void sampling_start(bool speaks)
{
    if (!sampler.wanted || sampler.running) return;
    int stop = eventfd(0, EFD_CLOEXEC);
    if (stop >= 0) sampler.stop = descriptor_out_of_the_way(stop);
    sampler.speaks = speaks;
    int error = sampler.stop < 0 ? errno : own_thread_start(&sampler.thread, run_task_sampler);
    sampler.running = !error;
    if (error) say("no samples are taken (%s)", strerror(error));
}

bool sampling_was_worth_it(void)
{
    struct timespec used;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used)) return false;
    uint64_t ns = (uint64_t)used.tv_sec * UINT64_C(1000000000) + (uint64_t)used.tv_nsec;
    return sampler.directly || ns >= WORTH_PERIODS * sampler.period_ns;
}

static void take_last(void)
{
    for (unsigned i = 0; i < task_count; i++) {
        task_cpu_ns(tasks[i]->tid, &tasks[i]->cpu_seen);
        stop_task(tasks[i]);
    }
    if (!store_begin()) return;
    is_on = !switch_is_off();
    threads_each(number_task, NULL);
    for (unsigned i = 0; i < task_count; i++) {
        take_all(tasks[i]);
        end_task(tasks[i]);
    }
    write_sample_rows();
    store_end();
}

/* A signal handler may have interrupted anything and call exit: then our thread may wait for what is held here, and is
 * left alone. */
void sampling_stop(void)
{
    const uint64_t one = 1;
    struct timespec until;
    if (!sampler.running) return;
    sampler.running = false;
    samples_follow_libraries(false);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += STOP_WAIT_S;
    if (write(sampler.stop, &one, sizeof one) != sizeof one || pthread_timedjoin_np(sampler.thread, NULL, &until)) {
        pthread_detach(sampler.thread);
        return;
    }
    close(sampler.stop);
    sampler.stop = -1;
    take_last();
}

void sampling_forget(void)
{
    sampler.running = sampler.wanted = false;
    samples_follow_libraries(false);
}
