/* Begin and end of every generated wrapper. */
#ifndef WRAPPER_H
#define WRAPPER_H

#include <string.h>
#include <strings.h>

#include "buffer/buffer.h"
#include "buffer/counter_set.h"
#include "calls/arguments.h"
#include "calls/collective.h"
#include "calls/communicators.h"
#include "calls/completion.h"
#include "calls/data_bytes.h"
#include "calls/errors.h"
#include "calls/frame.h"
#include "calls/internal/aborting.h"
#include "calls/internal/call_path.h"
#include "calls/io.h"
#include "calls/partitioned.h"
#include "calls/pcontrol.h"
#include "calls/point_to_point.h"
#include "calls/rma.h"
#include "calls/timed.h"
#include "counters/counters.h"
#include "counters/off_cpu.h"
#include "handles/comms.h"
#include "handles/count_arrays.h"
#include "handles/groups.h"
#include "handles/objects.h"
#include "handles/requests.h"
#include "mpi/missing.h"
#include "mpi/pmpi.h"
#include "run/gate.h"
#include "run/run.h"
#include "run/session.h"

#define UNLIKELY(x) __builtin_expect(!!(x), 0)

typedef double (*double_function)();

/* The real function behind a wrapper, found at the first call. */
struct real_function {
    char names[3][NAME_ROOM]; /* tried in order; not pointers, which the dynamic linker would have to fill in */
    function fallback;        /* for a large-count form that this MPI lacks */
};

/* Find the real function of a slot, and store it there (relaxed). Meets MPI first. Never NULL.
 * Context: any thread, not between store_begin and store_end; also before libc has started (early.h). */
function wrapper_resolve(int slot);

/* As thread_open; what the thread had entered before and left by longjmp or an exception is recorded first. */
static inline bool wrapper_open(struct thread *t, const void *frame, const void *cfa)
{
    bool inside = thread_gate(t) == GATE_INSIDE, open = thread_open(t, frame, cfa);
    if (open && inside) record_left(t);
    return open;
}

#define FIND(slot)                                                                                                     \
    function real = __atomic_load_n(&real_functions[slot], __ATOMIC_RELAXED);                                          \
    if (UNLIKELY(!real)) real = wrapper_resolve(slot);                                                                 \
    struct thread *t = &self

#define CLOSED                                                                                                         \
    (UNLIKELY(thread_gate(t) != GATE_OPEN) && !wrapper_open(t, __builtin_frame_address(0), __builtin_dwarf_cfa()))

#define INSIDE_SOMEWHERE                                                                                               \
    thread_set_gate(t, GATE_INSIDE);                                                                                   \
    t->inside = __builtin_dwarf_cfa()

#define INSIDE                                                                                                         \
    INSIDE_SOMEWHERE;                                                                                                  \
    call_path_note(t, __builtin_frame_address(0))

/* A call that mostly shares the row of the one before it: it is not known where it is made, until record_asked finds
 * that it needs a row of its own. */
#define INSIDE_ASKING                                                                                                  \
    INSIDE_SOMEWHERE;                                                                                                  \
    t->path = 0

/* Not recorded: MPI calling itself, a thread or process that is not traced. */
#define ENTER(slot, ...)                                                                                               \
    FIND(slot);                                                                                                        \
    if (CLOSED) return real(__VA_ARGS__);                                                                              \
    INSIDE

#define ENTER_ASKING(slot, ...)                                                                                        \
    FIND(slot);                                                                                                        \
    if (CLOSED) return real(__VA_ARGS__);                                                                              \
    INSIDE_ASKING

/* MPI_Init: the ranks must agree on the output, whether or not this thread can be recorded. */
#define ENTER_INIT(slot, result, ...)                                                                                  \
    FIND(slot);                                                                                                        \
    if (CLOSED) {                                                                                                      \
        word returned = real(__VA_ARGS__);                                                                             \
        if (!(result)) run_started();                                                                                  \
        return returned;                                                                                               \
    }                                                                                                                  \
    INSIDE

/* MPI_Abort: recorded before it acts, wherever it is called from. */
#define ABORT(slot, id, code, comm, ...)                                                                               \
    FIND(slot);                                                                                                        \
    const bool recorded = !CLOSED;                                                                                     \
    if (recorded) {                                                                                                    \
        INSIDE;                                                                                                        \
    }                                                                                                                  \
    aborting_begin(t, recorded, id, code, comm);                                                                       \
    word returned = real(__VA_ARGS__);                                                                                 \
    aborting_end();                                                                                                    \
    if (recorded) {                                                                                                    \
        LEAVE;                                                                                                         \
    }                                                                                                                  \
    return returned

/* MPIs whose mpi_x_ calls MPI_X: that wrapper records. */
#define FORWARD_FORTRAN(slot, ...)                                                                                     \
    if (UNLIKELY(abi.family == FAMILY_UNKNOWN)) run_meet_mpi();                                                        \
    if (abi.fortran_calls_c) {                                                                                         \
        function next = __atomic_load_n(&real_functions[slot], __ATOMIC_RELAXED);                                      \
        if (UNLIKELY(!next)) next = wrapper_resolve(slot);                                                             \
        return next(__VA_ARGS__);                                                                                      \
    }

/* The program's own time begins again. */
#define LEAVE                                                                                                          \
    if (!UNLIKELY(thread_gate(t) != GATE_INSIDE))                                                                      \
        thread_set_gate(t, GATE_OPEN);                                                                                 \
    else                                                                                                               \
        thread_left(t)

/* Ticks at which a call is entered: `now`, or later where a long computation ended and the thread looks at its CPU. */
static inline uint64_t computation_over(struct thread *t, uint64_t now)
{
    if (__builtin_expect(now - t->off_cpu.since < off_cpu_long, 1)) return now;
    thread_note_off_cpu(t, OFFCPU_OUTSIDE);
    return clock_ticks();
}

/* After the call's rows and its error, which stand at its exit. */
static inline void call_over(const struct frame *f)
{
    if (UNLIKELY(f->exit - f->enter >= off_cpu_long)) thread_note_off_cpu(f->t, OFFCPU_INSIDE);
    f->t->off_cpu.since = f->exit;
}

/* Counters outside the stamps: see counters.h. */
#define CALLING(id)                                                                                                    \
    struct frame f = {.t = t, .call = id, .path = t->path};                                                            \
    if (UNLIKELY(t->readings)) counting_enter(t);                                                                      \
    f.enter = computation_over(t, clock_ticks());                                                                      \
    thread_enter(t, id, f.enter)

#define CALLED                                                                                                         \
    f.exit = clock_ticks();                                                                                            \
    t->path = f.path;                                                                                                  \
    if (UNLIKELY(t->readings)) counting_exit(t)

#define CALL(id, ...)                                                                                                  \
    CALLING(id);                                                                                                       \
    word returned = real(__VA_ARGS__);                                                                                 \
    CALLED

/* MPI_Wtime and MPI_Wtick: the only procedures whose result is not a word. */
#define DOUBLE_WRAPPER(slot, id, forward)                                                                              \
    double_function real = (double_function)(void *)__atomic_load_n(&real_functions[slot], __ATOMIC_RELAXED);          \
    if (UNLIKELY(!real)) real = (double_function)(void *)wrapper_resolve(slot);                                        \
    struct thread *t = &self;                                                                                          \
    if (((forward) && abi.fortran_calls_c) || CLOSED) return real();                                                   \
    INSIDE_ASKING;                                                                                                     \
    CALLING(id);                                                                                                       \
    double returned = real();                                                                                          \
    CALLED;                                                                                                            \
    record_asked(&f, abi.comm_null, __builtin_frame_address(0));                                                       \
    call_over(&f);                                                                                                     \
    LEAVE;                                                                                                             \
    return returned

/* Return the result that a Fortran procedure has left in `ierror`; 0 without that argument. */
static inline int fortran_result(word ierror)
{
    return ierror ? *(int *)ierror : 0;
}
/* A result that the program may have given no place for: then MPI has refused the call. */
static inline int read_int(word p, int otherwise)
{
    return p ? *(int *)p : otherwise;
}
static inline int fortran_int(word p)
{
    return *(int *)p;
}
static inline int64_t fortran_wide(word p)
{
    return *(int64_t *)p;
}
static inline size_t text_length(word text)
{
    return text ? strlen((const char *)text) : 0;
}
static inline bool is_native(const char *representation, size_t length)
{
    return length >= 6 && strncasecmp(representation, "native", 6) == 0;
}
static const int one_element __attribute__((unused)) = 1; /* a count argument of Fortran */

/* Return data of no bytes. */
static inline struct data no_data(void)
{
    return (struct data){0, 0, 0, LANGUAGE_C};
}
/* MPI_NO_OP hands nothing over. */
static inline struct data unless_no_op(word op, struct data data)
{
    return op == abi.op_no_op ? no_data() : data;
}

#endif
