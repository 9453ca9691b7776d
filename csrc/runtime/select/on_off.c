#include "select/on_off.h"

#include <stdlib.h>
#include <string.h>

#include "buffer/buffer.h"
#include "common/settings.h"
#include "common/user_message.h"
#include "counters/counters.h"
#include "handles/requests.h"
#include "record/rank_file.h"
#include "record/threads.h"
#include "select/wanted_calls.h"

/* Tracing is off as long as there is a reason. */
enum reason { REASON_USER = 1, REASON_REGION = 2, REASON_TIME = 4 };

static struct {
    int reasons;      /* between store_begin and store_end, as the next */
    uint64_t changed; /* ticks: when they became some, or none */
    bool timed;
    int64_t next_ns; /* CLOCK_MONOTONIC of the next change, INT64_MAX: none */
    int64_t delay_ns, duration_ns;
    int recorded_regions; /* wanted ones that threads are in */
    const char *regions;  /* TRACELIB_REGIONS */
} process = {.next_ns = INT64_MAX};

/* Looking at the clock costs as much as recording a call: not more often than this (about 20 us). */
enum { TIME_CHECK_TICKS = 1 << 16, MOST_SKIPPED = 4096 };

void switch_start(void)
{
    const char *start = setting_text("TRACELIB_START");
    process.delay_ns = setting_time_ns("TRACELIB_DELAY");
    process.duration_ns = setting_time_ns("TRACELIB_DURATION");
    process.regions = setting_text("TRACELIB_REGIONS");
    if (start && strcmp(start, "off") == 0)
        process.reasons |= REASON_USER;
    else if (start && strcmp(start, "on") != 0)
        setting_trouble("TRACELIB_START=%s is neither on nor off; tracing is on", start);
    if (process.regions && !process.regions[strspn(process.regions, ",")]) {
        setting_trouble("TRACELIB_REGIONS=%s names no region; everything is recorded", process.regions);
        process.regions = NULL;
    }
    if (process.regions) process.reasons |= REASON_REGION;
    if (process.delay_ns) process.reasons |= REASON_TIME;
    process.timed = process.delay_ns || process.duration_ns;
    choice_start();
}

void switch_start_clock(void)
{
    int64_t first_ns = process.delay_ns ? process.delay_ns : process.duration_ns;
    if (process.timed) __atomic_store_n(&process.next_ns, clock_monotonic_ns() + first_ns, __ATOMIC_RELAXED);
}

bool switch_is_off(void)
{
    return process.reasons != 0;
}

int switch_first_mode(void)
{
    return (process.reasons ? MODE_SETTLE : 0) | (process.timed ? MODE_TIMED : 0) | (choice_made() ? MODE_CHOOSE : 0);
}

bool switch_is_on(void)
{
    return !process.reasons;
}

/* Change the mode of the process at a time; threads follow at their next row. Between store_begin and store_end. */
static void change(int set, int clear, uint64_t ticks)
{
    bool was_off = process.reasons != 0;
    process.reasons = (process.reasons | set) & ~clear;
    if (was_off == (process.reasons != 0)) return;
    process.changed = ticks;
    threads_set_mode(MODE_SETTLE);
}

/* The delay is over, or the duration. */
static void look_at_clock(struct thread *t, uint64_t enter)
{
    if (enter - t->off.checked < TIME_CHECK_TICKS) return;
    t->off.checked = enter;
    int64_t now = clock_monotonic_ns();
    if (now < __atomic_load_n(&process.next_ns, __ATOMIC_RELAXED) || !store_begin()) return;
    if (now >= process.next_ns) {
        bool begins = process.reasons & REASON_TIME;
        int64_t next = begins && process.duration_ns ? process.next_ns + process.duration_ns : INT64_MAX;
        __atomic_store_n(&process.next_ns, next, __ATOMIC_RELAXED);
        change(begins ? 0 : REASON_TIME, begins ? REASON_TIME : 0, enter);
    }
    store_end();
}

void switch_join(struct thread *t)
{
    if (!t->off.skipped.n) return;
    struct open_receives open = {0};
    requests_open_receives(&open);
    open_receives_sort(&open);
    skipped_join(&t->off.skipped, &open, t->off.since);
    free(open.posted);
}

static void write_skipped(struct thread *t)
{
    struct store *store = t->off.skipped.n ? rank_file_store() : NULL;
    if (!store) return;
    int error = skipped_write(&t->off.skipped, store, t->index, 0);
    if (error) rank_file_failed(error);
}

static void mark(struct thread *t, uint64_t time, bool on)
{
    struct file_event *row = thread_row(t, TABLE_EVENTS);
    if (t->spool->count[TABLE_EVENTS] && row[-1].time > time) time = row[-1].time; /* of the flush just made */
    *row = (struct file_event){time, on, TRACING_TYPE, (uint16_t)t->index, 0};
    thread_commit(t, TABLE_EVENTS);
}

/* Ticks of the thread's latest recorded exit, as far as its buffer knows. */
static uint64_t latest_exit(const struct thread *t)
{
    uint64_t n = t->spool->count[TABLE_CALLS];
    return n ? ((const struct file_call *)t->rows[TABLE_CALLS])[n - 1].exit : 0;
}

/* Write what was counted while recording was off. Returns when that began; 0: nothing was. */
static uint64_t write_counted(struct thread *t)
{
    uint64_t begin = clock_ticks();
    struct counting_pause pause;
    if (!t->off.skipped.n) return 0;
    counting_hold(t, &pause);
    write_skipped(t);
    counting_resume(t, &pause);
    return begin;
}

/* The time of writing is not the program's: recording begins after it, or if a call was made meanwhile that is to be
 * recorded, is interrupted by it. */
static void mark_on(struct thread *t, uint64_t time, uint64_t writing, bool in_call)
{
    if (!writing || in_call) mark(t, time, true);
    if (writing && in_call) mark(t, writing, false);
    if (writing) mark(t, clock_ticks(), true);
}

/* `in_call`: a call that entered then is about to be stored. */
static void settle(struct thread *t, uint64_t enter, bool in_call)
{
    uint64_t writing = 0;
    if (t->mode & MODE_TIMED) look_at_clock(t, enter);
    if (!(t->mode & MODE_SETTLE)) return;
    switch_join(t); /* not under the store's lock: who holds that of the requests may wait for it */
    if (!store_begin()) return;
    bool was_off = t->mode & MODE_OFF, off = process.reasons != 0;
    uint64_t time = process.changed;
    __atomic_fetch_and(&t->mode, ~(MODE_SETTLE | MODE_OFF), __ATOMIC_RELAXED);
    if (off) __atomic_fetch_or(&t->mode, MODE_OFF, __ATOMIC_RELAXED);
    if (was_off && !off) writing = write_counted(t);
    store_end();
    if (was_off == off) return;
    if (off && !time) time = enter; /* off from the start: nothing was called before */
    if (off && time < latest_exit(t)) time = latest_exit(t);
    if (time > enter)
        time = enter; /* another thread switched during this call, which is recorded whole or not at all */
    choice_interrupt(t);
    thread_end_polls(t);
    if (off) {
        t->off.since = time;
        mark(t, time, false);
    } else {
        mark_on(t, time, writing, in_call);
    }
}

void switch_settle(struct thread *t, uint64_t enter)
{
    settle(t, enter, true);
}

static void count_skipped(struct thread *t, bool counted)
{
    static bool said;
    if (!counted && !__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        say("rank %d: no memory to count the messages sent and received while tracing is off", rank_file.rank);
    if (t->off.skipped.n < t->off.join_at) return;
    switch_join(t);
    t->off.join_at = 2 * t->off.skipped.n + MOST_SKIPPED;
}

static bool keeps_call(struct thread *t, const struct file_call *row)
{
    if (t->mode & MODE_OFF) {
        count_skipped(t, skipped_call(&t->off.skipped, row));
        return false;
    }
    return !(t->mode & MODE_CHOOSE) || choice_keeps_call(t, row);
}

bool switch_keeps_call(struct thread *t, const struct file_call *row)
{
    switch_settle(t, row->enter);
    bool kept = keeps_call(t, row);
    if (!kept && t->readings) counting_skip(t);
    return kept;
}

bool switch_keeps_request(struct thread *t, const struct file_request *row, uint16_t call)
{
    if (t->mode & MODE_OFF) {
        count_skipped(t, skipped_request(&t->off.skipped, row));
        return false;
    }
    return !(t->mode & MODE_CHOOSE) || choice_keeps_request(t, row, call);
}

/* Its call is the latest in the buffer, if it was recorded. */
bool switch_keeps_access(struct thread *t, uint64_t enter)
{
    uint64_t n = t->spool->count[TABLE_CALLS];
    const struct file_call *calls = t->rows[TABLE_CALLS];
    return n && calls[n - 1].enter == enter;
}

bool switch_keeps_poll(struct thread *t, uint16_t call, uint64_t enter, uint64_t exit)
{
    switch_settle(t, enter);
    if (t->mode & MODE_OFF) return false;
    return !(t->mode & MODE_CHOOSE) || choice_keeps_poll(t, call, enter, exit);
}

void switch_close(struct thread *t)
{
    write_skipped(t);
    free(t->off.skipped.runs);
    t->off.skipped = (struct skipped){0};
}

void switch_by_program(bool on, uint64_t ticks)
{
    if (!store_begin()) return;
    change(on ? 0 : REASON_USER, on ? REASON_USER : 0, ticks);
    store_end();
}

void switch_settle_self(uint64_t ticks)
{
    if (thread_gate(&self) == GATE_OPEN || thread_gate(&self) == GATE_INSIDE) settle(&self, ticks, false);
}

/* Is the name among those of a list with commas? */
static bool is_listed(const char *list, const char *name, size_t length)
{
    for (;; list++) {
        size_t n = strcspn(list, ",");
        if (n == length && memcmp(list, name, n) == 0) return true;
        list += n;
        if (!*list) return false;
    }
}

static void enter_regions(int difference)
{
    uint64_t now = clock_ticks();
    if (!store_begin()) return;
    process.recorded_regions += difference;
    change(process.recorded_regions ? 0 : REASON_REGION, process.recorded_regions ? REASON_REGION : 0, now);
    store_end();
    switch_settle_self(now);
}

static bool push(struct off *off, uint32_t region)
{
    if (off->depth == off->room) {
        size_t room = off->room ? 2 * off->room : 16;
        uint32_t *regions = realloc(off->regions, room * sizeof *regions);
        if (!regions) return false;
        off->regions = regions;
        off->room = room;
    }
    off->regions[off->depth++] = region;
    return true;
}

static void leave_regions(struct off *off, size_t depth)
{
    int wanted = 0;
    while (off->depth > depth) wanted += off->regions[--off->depth] & 1;
    if (wanted) enter_regions(-wanted);
}

void switch_region_begin(struct thread *t, uint32_t number, const char *name, size_t length)
{
    if (!process.regions) return;
    bool wanted = is_listed(process.regions, name, length);
    if (push(&t->off, number << 1 | wanted) && wanted) enter_regions(1);
}

/* It ends the regions inside it, too; an end of none is none. */
void switch_region_end(struct thread *t, uint32_t number)
{
    size_t depth = t->off.depth;
    while (depth && number && t->off.regions[depth - 1] >> 1 != number) depth--;
    if (depth) leave_regions(&t->off, depth - 1);
}

void switch_leave(struct thread *t)
{
    leave_regions(&t->off, 0);
    free(t->off.regions);
    switch_join(t);
}
