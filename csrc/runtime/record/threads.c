#include "record/threads.h"

#include <stdatomic.h>
#include <string.h>

#include "record/spool.h"
#include "record/store.h"

static struct thread *threads;
static uint32_t thread_count;
static struct totals gone;            /* of threads that ended */
static uint64_t calls_without_buffer; /* any thread adds to it */
static char file_path[sizeof(((struct spool_header *)0)->rank_file)];

bool threads_number(uint32_t *number)
{
    if (thread_count == SAMPLER_THREAD) return false; /* it, and those above, are not threads of the program */
    *number = thread_count++;
    return true;
}

/* A kill leaves the whole name or none: its first letter comes last. */
static void name_file(struct spool_header *spool)
{
    volatile char *name = spool->rank_file;
    name[0] = '\0';
    atomic_signal_fence(memory_order_seq_cst);
    memcpy(spool->rank_file + 1, file_path + 1, sizeof file_path - 1);
    atomic_signal_fence(memory_order_seq_cst);
    name[0] = file_path[0];
}

void threads_name_file(const char *path)
{
    strncpy(file_path, path, sizeof file_path - 1);
    for (struct thread *t = threads; t; t = t->next) name_file(t->spool);
}

void threads_add(struct thread *t)
{
    name_file(t->spool);
    t->next = threads;
    threads = t;
}

/* Where the list leads to this thread, or ends. */
static struct thread **link_to(const struct thread *t)
{
    struct thread **link = &threads;
    while (*link && *link != t) link = &(*link)->next;
    return link;
}

void threads_remove(struct thread *t)
{
    struct thread **link = link_to(t);
    if (*link) *link = t->next;
    gone.calls += t->calls;
    gone.lost_calls += t->lost_calls;
    gone.lost_rows += t->lost_rows;
    gone.left_out_calls += t->left_out_calls;
}

void threads_replace(struct thread *t, struct thread *left_behind)
{
    *link_to(t) = left_behind;
}

void threads_each(void (*visit)(struct thread *t, void *data), void *data)
{
    for (struct thread *t = threads; t; t = t->next) visit(t, data);
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

void threads_count_without_buffer(void)
{
    __atomic_fetch_add(&calls_without_buffer, 1, __ATOMIC_RELAXED);
}

struct totals threads_gone(void)
{
    struct totals sum = gone;
    sum.calls += __atomic_load_n(&calls_without_buffer, __ATOMIC_RELAXED);
    sum.lost_calls += __atomic_load_n(&calls_without_buffer, __ATOMIC_RELAXED);
    return sum;
}

void threads_remove_spools(void)
{
    for (struct thread *t = threads; t; t = t->next) spool_remove(t->index);
}

void threads_shut(void)
{
    if (!store_begin()) return;
    for (struct thread *t = threads; t; t = t->next) thread_set_gate(t, GATE_SHUT);
    store_end();
    thread_set_gate(&self, GATE_SHUT);
}

void threads_disown(void)
{
    thread_set_gate(&self, GATE_SHUT);
    threads = NULL;
    store_reset_lock();
}
