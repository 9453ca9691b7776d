#include "calls/internal/polls.h"

#include "buffer/buffer.h"
#include "counters/counters.h"
#include "select/on_off.h"

/* A run of polls ends when the program computes for longer than this between two of them (about 10 us). */
enum { POLL_GAP_TICKS = 1 << 15 };

/* The first of them has a row in `calls`, a run of polls stands for the others. */
bool thread_is_repeated(const struct thread *t, const struct file_call *row)
{
    uint64_t n = t->spool->count[TABLE_CALLS];
    const struct file_call *first = n ? (const struct file_call *)t->rows[TABLE_CALLS] + n - 1 : NULL;
    if (!first || first->call != row->call || first->comm != row->comm) return false;
    if (t->poll && t->poll->call != row->call) return false;
    return row->enter - (t->poll ? t->poll->exit : first->exit) <= POLL_GAP_TICKS;
}

bool thread_shares_row(const struct thread *t, const struct file_call *row)
{
    return t->poll && t->poll->count < UINT32_MAX && thread_is_repeated(t, row);
}

void thread_count_poll(struct thread *t, uint16_t call, uint64_t enter, uint64_t exit)
{
    if (t->readings) counting_skip(t);
    if (t->mode && !switch_keeps_poll(t, call, enter, exit)) return;
    struct file_poll *p = __atomic_load_n(&t->poll, __ATOMIC_RELAXED);
    if (!p || p->call != call || enter - p->exit > POLL_GAP_TICKS || p->count == UINT32_MAX) {
        p = thread_row(t, TABLE_POLLS);
        *p = (struct file_poll){enter, exit, exit - enter, 1, call, (uint16_t)t->index};
        thread_note_path(t, TABLE_POLL_PATHS, TABLE_POLLS);
        thread_commit(t, TABLE_POLLS);
        __atomic_store_n(&t->poll, p, __ATOMIC_RELAXED);
        return;
    }
    __atomic_store_n(&p->exit, exit, __ATOMIC_RELAXED); /* in the order that read_poll of block.c relies on */
    __atomic_store_n(&p->inside, p->inside + exit - enter, __ATOMIC_RELEASE);
    __atomic_store_n(&p->count, p->count + 1, __ATOMIC_RELEASE);
}
