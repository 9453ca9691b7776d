#define _GNU_SOURCE
#include "thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "choice.h"
#include "counters.h"
#include "limit.h"
#include "message.h"
#include "run.h"
#include "spool.h"
#include "switch.h"
#include "trigger.h"

__thread struct thread self __attribute__((tls_model("initial-exec"))) = {.gate = GATE_NEW};

static struct thread *threads; /* between store_begin and store_end, as all below */
static char rank_file[sizeof(((struct spool_header *)0)->rank_file)];
static uint32_t thread_count;
static uint64_t calls_without_buffer; /* of threads that have none; any thread adds to it */
static struct totals gone;            /* of threads that ended */
static pthread_key_t at_thread_exit;

/* A kill leaves the whole name or none: its first letter comes last. */
static void name_file(struct spool_header *spool)
{
    volatile char *name = spool->rank_file;
    name[0] = '\0';
    atomic_signal_fence(memory_order_seq_cst);
    memcpy(spool->rank_file + 1, rank_file + 1, sizeof rank_file - 1);
    atomic_signal_fence(memory_order_seq_cst);
    name[0] = rank_file[0];
}

/* A run of polls ends when the program computes for longer than this between two of them (about 10 us). */
enum { POLL_GAP_TICKS = 1 << 15 };

/* The rows of a buffer that are complete and not in the file. Its thread may be adding more. */
struct waiting {
    uint64_t first[BUFFERED_TABLES], end[BUFFERED_TABLES];
    uint64_t rows, calls;
};

static struct waiting rows_waiting(const struct thread *t)
{
    struct waiting w = {.rows = 0};
    for (int i = 0; i < BUFFERED_TABLES; i++) {
        w.first[i] = t->written[i];
        w.end[i] = __atomic_load_n(&t->spool->count[i], __ATOMIC_ACQUIRE);
    }
    const struct file_poll *polls = t->rows[TABLE_POLLS];
    w.end[TABLE_COUNTS] = w.first[TABLE_COUNTS] + (w.end[TABLE_CALLS] - w.first[TABLE_CALLS]) * t->readings;
    w.calls = w.end[TABLE_CALLS] - w.first[TABLE_CALLS];
    for (uint64_t i = w.first[TABLE_POLLS]; i < w.end[TABLE_POLLS]; i++)
        w.calls += __atomic_load_n(&polls[i].count, __ATOMIC_RELAXED);
    for (int i = 0; i < BUFFERED_TABLES; i++) w.rows += w.end[i] - w.first[i];
    return w;
}

/* A run of polls that its thread may be prolonging: in the reverse order, so that `inside` is never more than fits. */
static struct file_poll read_poll(const struct file_poll *p)
{
    struct file_poll row = {.enter = p->enter, .call = p->call, .thread = p->thread};
    row.count = __atomic_load_n(&p->count, __ATOMIC_ACQUIRE);
    row.inside = __atomic_load_n(&p->inside, __ATOMIC_ACQUIRE);
    row.exit = __atomic_load_n(&p->exit, __ATOMIC_RELAXED);
    return row;
}

static int append_rows(struct store *store, const struct thread *t, enum table table, const struct waiting *w)
{
    const char *rows = t->rows[table];
    uint64_t n = w->end[table] - w->first[table], row_bytes = table_layout[table].row_bytes;
    bool last_may_change = table == TABLE_POLLS && t != &self && n;
    int error = store_append(store, table, rows + w->first[table] * row_bytes, n - last_may_change);
    if (error || !last_may_change) return error;
    struct file_poll last = read_poll((const struct file_poll *)t->rows[table] + w->end[table] - 1);
    return store_append(store, table, &last, 1);
}

/* After a flush by the thread itself the buffer is empty but for what lies behind the rows: the readings of the call
 * that goes on. */
static void forget_rows(struct thread *t, const struct waiting *w)
{
    uint64_t *counts = t->rows[TABLE_COUNTS];
    if (t == &self) memmove(counts, counts + w->end[TABLE_COUNTS], t->readings * sizeof *counts);
    for (int i = 0; i < BUFFERED_TABLES; i++) {
        t->written[i] = t == &self ? 0 : w->end[i];
        if (t == &self) __atomic_store_n(&t->spool->count[i], 0, __ATOMIC_RELAXED);
    }
    if (t == &self || t->mode) choice_forget(t);
}

void thread_store_event(struct thread *t, uint64_t time, uint32_t type, int64_t value)
{
    *(struct file_event *)thread_row(t, TABLE_EVENTS) =
        (struct file_event){.time = time, .value = value, .type = type, .thread = (uint16_t)t->index};
    thread_commit(t, TABLE_EVENTS);
}

void thread_need_events(struct thread *t, uint64_t n)
{
    if (t->spool->count[TABLE_EVENTS] + n > t->capacity[TABLE_EVENTS]) thread_flush(t);
}

void thread_store_readings(struct thread *t, uint64_t time, const uint64_t *values)
{
    const struct counter_set *set = counting_set(t);
    for (unsigned i = 0; i < set->n; i++)
        if (values[i] != NOT_READ) thread_store_event(t, time, set->counters[i].type, (int64_t)values[i]);
}

static int append_flush(struct store *store, const struct thread *t, uint64_t time, int64_t value)
{
    struct file_event event = {time, value, FLUSH_TYPE, (uint16_t)t->index, 0};
    return store_append(store, TABLE_EVENTS, &event, 1);
}

enum flush {
    FLUSH_FULL,     /* the buffer is full; the events around it are in the buffer */
    FLUSH_CLOSING,  /* the run ends: both events come behind the buffer */
    FLUSH_LEFT_OUT, /* the same, and before them the end of what was left out */
};

static int append_closing(struct store *store, const struct thread *t, uint64_t begin, enum flush flush)
{
    int error = flush == FLUSH_LEFT_OUT ? append_flush(store, t, begin, 0) : 0;
    if (!error) error = append_flush(store, t, begin, 1);
    return error ? error : append_flush(store, t, clock_ticks(), 0);
}

/* Write the buffer as one block. The spool says where the rows go before they are written, and forgets them after:
 * whoever finds it can repeat the step. (What was left out stays so.) Rows that the disk does not take are counted. */
static void write_block(struct thread *t, struct store *store, const struct waiting *w, enum flush flush)
{
    uint64_t rows = w->rows, begin = clock_ticks();
    struct file_block block = {.thread = t->index, .flags = 1, .set = t->spool->set};
    int error = store ? 0 : run_store_error();
    if (store) {
        for (int i = 0; i < BUFFERED_TABLES; i++) block.first[i] = store->table[i].rows;
        if (flush != FLUSH_LEFT_OUT) {
            memcpy(t->spool->base, block.first, sizeof block.first);
            __atomic_store_n(&t->spool->flushing, FLUSHING, __ATOMIC_RELEASE);
        }
        for (int i = BUFFERED_TABLES - 1; i >= 0; i--) { /* counts before their calls */
            if (!error) error = append_rows(store, t, i, w);
            block.count[i] = (uint32_t)(store->table[i].rows - block.first[i]);
            rows -= block.count[i];
        }
        if (!error && flush != FLUSH_FULL) error = append_closing(store, t, begin, flush);
        block.count[TABLE_EVENTS] = (uint32_t)(store->table[TABLE_EVENTS].rows - block.first[TABLE_EVENTS]);
        if (!error) error = store_append(store, TABLE_BLOCKS, &block, 1);
        if (!error) limit_wrote(store, t);
        if (!error) error = run_store_clock();
    }
    if (error) {
        t->lost_rows += rows;
        t->lost_calls += w->calls - (store ? block.count[TABLE_CALLS] : 0);
        run_store_failed(error);
    }
    t->calls += w->calls;
    forget_rows(t, w);
    if (t == &self && flush != FLUSH_LEFT_OUT) __atomic_store_n(&t->spool->flushing, 0, __ATOMIC_RELEASE);
}

/* The buffer does not fit what the user allows. When the run ends there is a block of events all the same: until when
 * nothing was recorded. */
static void leave_out_block(struct thread *t, struct store *store, const struct waiting *w, enum flush flush)
{
    int error = limit_leave_out(store, t, w->calls);
    t->calls += w->calls;
    forget_rows(t, w);
    if (t == &self) limit_forgot(t);
    if (error) run_store_failed(error);
    if (flush != FLUSH_CLOSING || error) return;
    struct waiting none = rows_waiting(t);
    memcpy(none.end, none.first, sizeof none.end);
    none.rows = none.calls = 0;
    write_block(t, store, &none, FLUSH_LEFT_OUT);
}

static uint64_t bytes_of(const struct waiting *w)
{
    uint64_t bytes = 0;
    for (int i = 0; i < BUFFERED_TABLES; i++) bytes += (w->end[i] - w->first[i]) * table_layout[i].row_bytes;
    return bytes;
}

/* By the thread itself. */
static uint64_t rows_held(const struct thread *t)
{
    uint64_t n = 0;
    for (int i = 0; i < BUFFERED_TABLES; i++) n += t->spool->count[i];
    return n;
}

/* Write what waits, with the event that says since when. */
static void empty_buffer(struct thread *t, uint64_t begin, bool closing)
{
    struct file_event *events = t->rows[TABLE_EVENTS]; /* there is always room for one more */
    struct waiting w = rows_waiting(t);
    enum flush flush = closing ? FLUSH_CLOSING : FLUSH_FULL;
    if (w.rows && !closing) {
        events[w.end[TABLE_EVENTS]++] = (struct file_event){begin, 1, FLUSH_TYPE, (uint16_t)t->index, 0};
        w.rows++;
        thread_commit(t, TABLE_EVENTS);
    }
    thread_end_polls(t);
    if (!w.rows) { /* whoever has closed the run has written them */
        forget_rows(t, &w);
        return;
    }
    struct store *store = run_store();
    if (store && !limit_admits(store, t, bytes_of(&w)))
        leave_out_block(t, store, &w, flush);
    else
        write_block(t, store, &w, flush);
    t->buffers++;
}

void thread_flush(struct thread *t)
{
    bool closing = run_is_closed();
    uint64_t begin = clock_ticks();
    struct counting_pause pause;
    if (rows_held(t) == 0) return;
    run_need_file();
    if (!store_begin()) return;
    counting_hold(t, &pause);
    empty_buffer(t, begin, closing);
    store_end();
    if (!closing) thread_store_event(t, clock_ticks(), FLUSH_TYPE, 0);
    counting_resume(t, &pause);
}

/* The thread itself may be recording. What it records from here on is written at its next call or at exit. */
static void close_thread(struct thread *t)
{
    switch_close(t);
    empty_buffer(t, 0, true);
    for (int i = 0; i < BUFFERED_TABLES; i++) __atomic_store_n(&t->capacity[i], 0, __ATOMIC_RELAXED);
}

bool threads_close(void)
{
    if (!store_begin()) return false;
    for (struct thread *t = threads; t; t = t->next) close_thread(t);
    store_end();
    return true;
}

void threads_remove_spools(void)
{
    for (struct thread *t = threads; t; t = t->next) spool_remove(t->index);
}

static void leave_process(void *thread)
{
    struct thread *t = thread, **link = &threads;
    if (thread_gate(t) == GATE_SHUT) return; /* a forked child: buffer and file are the parent's */
    thread_set_gate(t, GATE_SHUT);
    switch_leave(t);
    if (rows_held(t)) run_need_file();
    if (!store_begin()) return;
    close_thread(t);
    spool_remove(t->index);
    while (*link && *link != t) link = &(*link)->next;
    if (*link) *link = t->next;
    gone.calls += t->calls;
    gone.lost_calls += t->lost_calls;
    gone.lost_rows += t->lost_rows;
    counting_end(t);
    trigger_close(t->trigger);
    gone.left_out_calls += t->left_out_calls;
    spool_unmap(t->spool, t->spool_bytes);
    store_end();
    free(t->handles.memory);
    free(t->statuses.memory);
    free(t->summed.of_call);
}

struct totals threads_totals(void)
{
    struct totals sum = {0};
    if (!store_begin()) return sum;
    sum = gone;
    sum.lost_calls += __atomic_load_n(&calls_without_buffer, __ATOMIC_RELAXED);
    sum.calls += __atomic_load_n(&calls_without_buffer, __ATOMIC_RELAXED);
    for (struct thread *t = threads; t; t = t->next) {
        struct waiting w = rows_waiting(t);
        sum.calls += t->calls + w.calls;
        sum.lost_calls += t->lost_calls + (limit_stopped() ? w.calls : 0);
        sum.lost_rows += t->lost_rows;
        sum.left_out_calls += t->left_out_calls;
        sum.waiting_bytes += limit_stopped() ? 0 : bytes_of(&w);
    }
    store_end();
    return sum;
}

/* A thread's memory goes with it: it must be told when that ends. */
static bool watch_end(struct thread *t)
{
    static bool watching;
    if (t->index == 0) watching = pthread_key_create(&at_thread_exit, leave_process) == 0;
    return watching && pthread_setspecific(at_thread_exit, t) == 0;
}

bool thread_is_empty(const struct thread *t)
{
    return rows_held(t) == t->spool->count[TABLE_EVENTS];
}

static bool join_process(struct thread *t, bool samples)
{
    t->spool_bytes = thread_buffer_bytes();
    if (!store_begin()) return false;
    if (!samples && thread_count == SAMPLER_THREAD) { /* that number, and those above, are not threads of the program */
        static bool said;
        if (!said)
            say("rank %d: more than %d threads: calls of the later ones are counted and lost", run_rank(),
                (int)SAMPLER_THREAD);
        said = true;
        store_end();
        return false;
    }
    t->index = samples ? SAMPLER_THREAD : thread_count++;
    t->spool = watch_end(t) ? spool_create(t->index, t->spool_bytes) : NULL;
    if (t->spool) {
        if (samples) {
            thread_divide_for_sampler(t);
        } else {
            counting_begin(t);
            t->trigger = trigger_open(t->index);
            thread_divide(t);
        }
        name_file(t->spool);
        t->mode = switch_first_mode();
        t->next = threads;
        threads = t;
    }
    store_end();
    return t->spool != NULL;
}

/* Has the recorded call been left by longjmp or an exception, out of an error handler of the program? A call that MPI
 * or a callback makes has its frame below. (On a stack of its own it may not: then it is recorded, which harms nobody.
 * And what deeper functions call is missed until a call comes from where the abandoned one came from.) */
static bool was_abandoned(const struct thread *t, void *frame)
{
    return thread_gate(t) == GATE_INSIDE && (uintptr_t)frame >= (uintptr_t)t->inside;
}

bool thread_open(struct thread *t, void *frame)
{
    if (was_abandoned(t, frame)) return true;
    if (t->without_buffer) __atomic_fetch_add(&calls_without_buffer, 1, __ATOMIC_RELAXED);
    if (thread_gate(t) != GATE_NEW) return false; /* inside a recorded call, or shut */
    thread_set_gate(t, GATE_SHUT);                /* in case MPI is called while we prepare */
    if (!run_prepare()) return false;
    if (!join_process(t, false)) {
        t->without_buffer = true;
        __atomic_fetch_add(&calls_without_buffer, 1, __ATOMIC_RELAXED);
        return false;
    }
    if (t->set) thread_store_event(t, clock_ticks(), COUNTER_SET_TYPE, t->set);
    thread_set_gate(t, GATE_OPEN);
    return true;
}

bool thread_join_as_sampler(void)
{
    thread_set_gate(&self, GATE_SHUT);
    if (!join_process(&self, true)) return false;
    thread_set_gate(&self, GATE_OPEN); /* its end is to be noticed */
    return true;
}

void threads_each(void (*visit)(struct thread *t, void *data), void *data)
{
    for (struct thread *t = threads; t; t = t->next) visit(t, data);
}

void thread_left(struct thread *t)
{
    if (thread_gate(t) != GATE_DUE) return;
    thread_set_gate(t, GATE_INSIDE);
    counting_change(t);
    thread_set_gate(t, GATE_OPEN);
}

void threads_name_file(const char *path)
{
    strncpy(rank_file, path, sizeof rank_file - 1);
    for (struct thread *t = threads; t; t = t->next) name_file(t->spool);
}

void threads_shut(void)
{
    if (!store_begin()) return;
    for (struct thread *t = threads; t; t = t->next) thread_set_gate(t, GATE_SHUT);
    store_end();
    thread_set_gate(&self, GATE_SHUT);
}

void threads_set_mode(int mode)
{
    for (struct thread *t = threads; t; t = t->next) __atomic_fetch_or(&t->mode, mode, __ATOMIC_RELAXED);
}

void threads_left_out(uint32_t index, uint64_t calls)
{
    struct thread *t = threads;
    while (t && t->index != index) t = t->next;
    *(t ? &t->left_out_calls : &gone.left_out_calls) += calls;
}

void threads_disown(void)
{
    thread_set_gate(&self, GATE_SHUT);
    threads = NULL;
    store_reset_lock();
}

/* The first of them has a row in `calls`, a run of polls stands for the others. */
bool thread_is_repeated(const struct thread *t, const struct file_call *row)
{
    uint64_t n = t->spool->count[TABLE_CALLS];
    const struct file_call *first = n ? (const struct file_call *)t->rows[TABLE_CALLS] + n - 1 : NULL;
    if (!first || first->call != row->call || first->comm != row->comm) return false;
    if (t->poll && t->poll->call != row->call) return false;
    return row->enter - (t->poll ? t->poll->exit : first->exit) <= POLL_GAP_TICKS;
}

void thread_count_poll(struct thread *t, uint16_t call, uint64_t enter, uint64_t exit)
{
    if (t->readings) counting_skip(t);
    if (t->mode && !switch_keeps_poll(t, call, enter, exit)) return;
    struct file_poll *p = __atomic_load_n(&t->poll, __ATOMIC_RELAXED);
    if (!p || p->call != call || enter - p->exit > POLL_GAP_TICKS || p->count == UINT32_MAX) {
        p = thread_row(t, TABLE_POLLS);
        *p = (struct file_poll){enter, exit, exit - enter, 1, call, (uint16_t)t->index};
        thread_commit(t, TABLE_POLLS);
        __atomic_store_n(&t->poll, p, __ATOMIC_RELAXED);
        return;
    }
    __atomic_store_n(&p->exit, exit, __ATOMIC_RELAXED); /* in the order that read_poll relies on */
    __atomic_store_n(&p->inside, p->inside + exit - enter, __ATOMIC_RELEASE);
    __atomic_store_n(&p->count, p->count + 1, __ATOMIC_RELEASE);
}

void *scratch_get(struct scratch *s, uint64_t bytes)
{
    if (s->bytes >= bytes) return s->memory;
    free(s->memory);
    s->memory = malloc(bytes * 2);
    s->bytes = s->memory ? bytes * 2 : 0;
    return s->memory;
}
