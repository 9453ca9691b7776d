#include "buffer/counter_set.h"

#include "buffer/buffer.h"
#include "buffer/buffer_shares.h"
#include "counters/counters.h"
#include "record/store.h"

void thread_change_set(struct thread *t)
{
    uint32_t number = rotation_current();
    if (t->set == number) return;
    if (!thread_is_empty(t)) thread_flush(t);          /* events may stay: they are the same in every set */
    if (!thread_is_empty(t) || !store_begin()) return; /* nobody reads this thread's counters meanwhile */
    counting_change(t, number);
    store_end();
    thread_divide(t);
    thread_store_event(t, clock_ticks(), COUNTER_SET_TYPE, t->set);
    counting_change_inside(t);
}

void thread_left(struct thread *t)
{
    if (thread_gate(t) != GATE_DUE) return;
    thread_set_gate(t, GATE_INSIDE);
    thread_change_set(t);
    thread_set_gate(t, GATE_OPEN);
}
