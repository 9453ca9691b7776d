#include "buffer/block.h"

#include <string.h>

#include "buffer/own_time.h"
#include "counters/off_cpu.h"
#include "mpi/procedures.h"
#include "places/places.h"
#include "record/rank_file.h"
#include "record/space_limit.h"

struct waiting block_waiting(const struct thread *t)
{
    struct waiting w = {.rows = 0};
    for (int i = 0; i < BUFFERED_TABLES; i++) {
        w.first[i] = t->written[i];
        w.end[i] = __atomic_load_n(&t->spool->count[i], __ATOMIC_ACQUIRE);
    }
    const struct file_poll *polls = t->rows[TABLE_POLLS];
    w.end[TABLE_COUNTS] = w.first[TABLE_COUNTS] + (w.end[TABLE_CALLS] - w.first[TABLE_CALLS]) * t->readings;
    w.calls = w.end[TABLE_CALLS] - w.first[TABLE_CALLS];
    w.end[TABLE_CALL_PATHS] = w.first[TABLE_CALL_PATHS] + (places_depth ? w.calls : 0);
    w.end[TABLE_POLL_PATHS] =
        w.first[TABLE_POLL_PATHS] + (places_depth ? w.end[TABLE_POLLS] - w.first[TABLE_POLLS] : 0);
    for (uint64_t i = w.first[TABLE_POLLS]; i < w.end[TABLE_POLLS]; i++)
        w.calls += __atomic_load_n(&polls[i].count, __ATOMIC_RELAXED);
    for (int i = 0; i < TABLE_CALL_PATHS; i++) w.rows += w.end[i] - w.first[i]; /* paths are a part of their rows */
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

/* Begin new rows for the calls that are summed up from here on. */
static void forget_summed(struct summed *s)
{
    s->open = NULL;
    if (s->of_call) memset(s->of_call, 0, call_count * sizeof *s->of_call);
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
    if (t == &self || t->mode) forget_summed(&t->summed);
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

/* Append this thread's use of CPUs up to `time`. Nothing is known of another thread's since that thread looked last. */
static int append_off_cpu(struct store *store, struct thread *t, uint64_t time)
{
    struct file_event events[2];
    bool any = t == &self && off_cpu_last(t, time, events);
    return any ? store_append(store, TABLE_EVENTS, events, 2) : 0;
}

static int append_closing(struct store *store, struct thread *t, uint64_t begin, enum flush flush)
{
    int error = flush == FLUSH_LEFT_OUT ? append_flush(store, t, begin, 0) : append_off_cpu(store, t, begin);
    if (!error) error = append_flush(store, t, begin, 1);
    t->closed_at = clock_ticks();
    return error ? error : append_flush(store, t, t->closed_at, 0);
}

/* Keep the order of a thread's events: some were stamped before the closing block and stored behind it. */
static void keep_in_order(const struct thread *t, const struct waiting *w)
{
    struct file_event *events = t->rows[TABLE_EVENTS];
    for (uint64_t i = w->first[TABLE_EVENTS]; i < w->end[TABLE_EVENTS] && events[i].time < t->closed_at; i++)
        events[i].time = t->closed_at;
}

static uint64_t rows_of_calls(const struct waiting *w)
{
    return w->end[TABLE_CALLS] - w->first[TABLE_CALLS] + w->end[TABLE_POLLS] - w->first[TABLE_POLLS];
}

/* Write the buffer as one block. The spool says where the rows go before they are written, and forgets them after:
 * whoever finds it can repeat the step. (What was left out stays so.) If the disk does not take all of it, all of it is
 * lost. */
static void write_block(struct thread *t, struct store *store, const struct waiting *w, enum flush flush)
{
    const uint64_t begin = clock_ticks();
    bool named = false;
    struct file_block block = {.thread = t->index, .flags = 1, .set = t->spool->set};
    int error = store ? 0 : rank_file_error();
    if (store) {
        keep_in_order(t, w);
        for (int i = 0; i < BUFFERED_TABLES; i++) block.first[i] = store->table[i].rows;
        if (flush != FLUSH_LEFT_OUT) {
            memcpy(t->spool->base, block.first, sizeof block.first);
            __atomic_store_n(&t->spool->flushing, FLUSHING, __ATOMIC_RELEASE);
        }
        for (int i = BUFFERED_TABLES - 1; i >= 0; i--) { /* counts and paths before their calls */
            if (!error) error = append_rows(store, t, i, w);
            block.count[i] = (uint32_t)(store->table[i].rows - block.first[i]);
        }
        if (!error && flush != FLUSH_FULL) error = append_closing(store, t, begin, flush);
        block.count[TABLE_EVENTS] = (uint32_t)(store->table[TABLE_EVENTS].rows - block.first[TABLE_EVENTS]);
        if (!error) error = store_append(store, TABLE_BLOCKS, &block, 1);
        named = !error;
        if (!error) limit_wrote(store, t);
        if (!error) error = own_time_tell(store);
        if (!error) error = rank_file_clock();
    }
    for (int i = 0; store && !named && i < BUFFERED_TABLES; i++) store_take_back(store, i, block.first[i]);
    if (!named) {
        t->lost_rows += w->rows - rows_of_calls(w);
        t->lost_calls += w->calls;
    }
    if (error) rank_file_failed(error);
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
    if (error) rank_file_failed(error);
    if (flush != FLUSH_CLOSING || error) return;
    struct waiting none = block_waiting(t);
    memcpy(none.end, none.first, sizeof none.end);
    none.rows = none.calls = 0;
    write_block(t, store, &none, FLUSH_LEFT_OUT);
}

uint64_t block_bytes(const struct waiting *w)
{
    uint64_t bytes = 0;
    for (int i = 0; i < BUFFERED_TABLES; i++) bytes += (w->end[i] - w->first[i]) * table_layout[i].row_bytes;
    return bytes;
}

void block_write(struct thread *t, uint64_t begin, bool closing)
{
    struct file_event *events = t->rows[TABLE_EVENTS]; /* there is always room for one more */
    struct waiting w = block_waiting(t);
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
    struct store *store = rank_file_store();
    if (store && !limit_admits(store, t, block_bytes(&w)))
        leave_out_block(t, store, &w, flush);
    else
        write_block(t, store, &w, flush);
    t->buffers++;
}
