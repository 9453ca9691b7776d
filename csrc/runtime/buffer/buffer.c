#include "buffer/buffer.h"

#include "buffer/block.h"
#include "counters/counters.h"
#include "counters/off_cpu.h"
#include "record/phase.h"
#include "record/rank_file.h"

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

uint64_t thread_rows_held(const struct thread *t)
{
    uint64_t n = 0;
    for (int i = 0; i < BUFFERED_TABLES; i++) n += t->spool->count[i];
    return n;
}

bool thread_is_empty(const struct thread *t)
{
    return thread_rows_held(t) == t->spool->count[TABLE_EVENTS];
}

/* One after the other, and later than the flush that may make room for them. */
static void store_off_cpu(struct thread *t, struct file_event events[2])
{
    thread_need_events(t, 2);
    uint64_t now = clock_ticks();
    for (int i = 0; i < 2; i++) {
        events[i].time = now;
        *(struct file_event *)thread_row(t, TABLE_EVENTS) = events[i];
        thread_commit(t, TABLE_EVENTS);
    }
}

void thread_note_off_cpu(struct thread *t, uint16_t where)
{
    struct file_event events[2];
    if (off_cpu_look(t, where, events)) store_off_cpu(t, events);
}

void thread_begin_off_cpu(struct thread *t)
{
    struct file_event events[2];
    off_cpu_begin(t, events);
    store_off_cpu(t, events);
}

void thread_flush(struct thread *t)
{
    bool closing = phase_is_closed();
    uint64_t begin = clock_ticks();
    struct counting_pause pause;
    if (thread_rows_held(t) == 0) return;
    rank_file_demand();
    if (!store_begin()) return;
    counting_hold(t, &pause);
    block_write(t, begin, closing);
    store_end();
    if (!closing) thread_store_event(t, clock_ticks(), FLUSH_TYPE, 0);
    counting_resume(t, &pause);
    if (!closing) thread_note_off_cpu(t, OFFCPU_SHORT);
}
