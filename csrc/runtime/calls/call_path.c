#include "calls/internal/call_path.h"

#include <errno.h>
#include <signal.h>

#include "buffer/buffer.h"
#include "counters/counters.h"
#include "select/on_off.h"
#include "select/wanted_calls.h"

enum { ROWS = 2 };

/* Not while the tracer measures itself, or nothing is recorded; and in MPI_Finalize it is a part of the call. */
static bool is_booked(const struct thread *t)
{
    return !t->measured && !t->finalizing && !(t->mode & MODE_OFF) && t->capacity[TABLE_EVENTS] >= ROWS;
}

/* Both rows of events without a flush between them. */
static uint64_t begin_booking(struct thread *t, uint64_t began)
{
    thread_end_polls(t);
    choice_interrupt(t);
    if (t->spool->count[TABLE_EVENTS] + ROWS <= t->capacity[TABLE_EVENTS]) return began;
    thread_flush(t);
    return clock_ticks();
}

static void find_booked(struct thread *t, const uint64_t *frame, uint64_t began)
{
    struct counting_pause pause;
    uint64_t begin = begin_booking(t, began);
    counting_hold(t, &pause);
    t->path = places_find(t, frame, (uint64_t)t->inside);
    thread_store_event(t, begin, PATHS_TYPE, 1);
    counting_resume(t, &pause);
    thread_store_event(t, clock_ticks(), PATHS_TYPE, 0);
}

/* No handler of the program's may come to a call of MPI here, and it sees nothing of what happens here. */
void __attribute__((noinline, cold)) call_path_find(struct thread *t, const uint64_t *frame)
{
    uint64_t began = clock_ticks();
    sigset_t all, before;
    int error = errno;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (is_booked(t))
        find_booked(t, frame, began);
    else
        t->path = places_find(t, frame, (uint64_t)t->inside);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
}
