#include "run/gate.h"

#include <signal.h>

#include "buffer/buffer.h"
#include "mpi/early.h"
#include "places/places.h"
#include "record/threads.h"
#include "run/internal/prepare.h"
#include "run/internal/thread_recording.h"

/* Does a handler run on a stack for signals, and the recorded call on another one? Then that call may go on afterwards,
 * and may be anywhere: it may even have begun to write its row. */
static bool in_handler_elsewhere(const struct thread *t)
{
    stack_t now;
    uintptr_t inside = (uintptr_t)t->inside, low;
    if (sigaltstack(NULL, &now) || !(now.ss_flags & SS_ONSTACK)) return false;
    low = (uintptr_t)now.ss_sp;
    return inside < low || inside - low > now.ss_size;
}

/* Has the recorded call been left by longjmp or an exception, out of an error handler of the program? A call that MPI
 * or a callback makes has its frame below, and the recorded call's among its callers. */
static bool was_abandoned(const struct thread *t, const void *frame, const void *cfa)
{
    if (thread_gate(t) != GATE_INSIDE || !cfa) return false;
    if ((uintptr_t)cfa >= (uintptr_t)t->inside) return !in_handler_elsewhere(t);
    return places_frame_is_gone(frame, (uint64_t)cfa, (uint64_t)t->inside);
}

bool thread_open(struct thread *t, const void *frame, const void *cfa)
{
    if (!early_is_over()) { /* nothing in *t is true yet */
        threads_count_without_buffer();
        return false;
    }
    if (was_abandoned(t, frame, cfa)) return true;
    if (t->without_buffer) threads_count_without_buffer();
    if (thread_gate(t) != GATE_NEW) return false; /* inside a recorded call, or shut */
    thread_set_gate(t, GATE_SHUT);                /* in case MPI is called while we prepare */
    if (!run_prepare()) return false;
    if (!thread_join(t)) {
        t->without_buffer = true;
        threads_count_without_buffer();
        return false;
    }
    thread_begin_off_cpu(t);
    if (t->set) thread_store_event(t, clock_ticks(), COUNTER_SET_TYPE, t->set);
    thread_set_gate(t, GATE_OPEN);
    return true;
}
