/* The state of a recording thread: its buffer in a mapped spool, and all that it alone knows of its calls.
 *
 * Context: the thread itself, no lock, where nothing else is said. Gate and counts are atomic words: a signal handler
 * of the program may call MPI in the middle of a call, and other threads look at the buffer. */
#ifndef THREAD_H
#define THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"
#include "record/skipped.h"
#include "schema.h"

enum gate {
    GATE_UNMADE, /* the thread's memory has not been filled yet: early.h */
    GATE_OPEN,   /* outside MPI: the next call is recorded */
    GATE_INSIDE, /* inside a recorded call: what MPI calls itself is not recorded */
    GATE_DUE,    /* at the end of a recorded call: another set of counters is to be read from here on */
    GATE_NEW,    /* this thread has made no call yet */
    GATE_SHUT,   /* this thread is not recorded (tracing is off, or failed) */
};

/* Extent to which a thread is recorded (select/on_off.h). */
enum mode {
    MODE_SETTLE = 1, /* the process has been switched since this thread's latest row */
    MODE_OFF = 2,    /* this thread records nothing; it counts messages */
    MODE_TIMED = 4,  /* it looks at the clock, for a change may be due */
    MODE_CHOOSE = 8, /* some kinds of calls are only summed up */
};

/* Readings of a thread of its use of CPUs (buffer/off_cpu.h). */
struct off_cpu {
    uint64_t since;          /* ticks: it left its latest call */
    int64_t wall_ns, cpu_ns; /* when it looked last: CLOCK_MONOTONIC, its CPU time, */
    uint64_t delay_ns;       /* its run delay */
};

/* Working memory of one thread. */
struct scratch {
    void *memory;
    uint64_t bytes;
};

/* State of a thread while tracing is off (on_off.c). */
struct off {
    uint64_t since;         /* ticks */
    uint64_t checked;       /* ticks: when it last looked at the clock */
    struct skipped skipped; /* messages since then */
    size_t join_at;         /* number that is worth being joined */
    uint32_t *regions;      /* that it is in, the innermost last: 2 x number, and 1 if it is to be recorded */
    size_t depth, room;     /* of `regions` */
};

/* Sums of a thread of the calls that are only summed up (wanted_calls.c). */
struct summed {
    struct file_summary *open;     /* in the spool: of the calls since the latest long computation; NULL: none */
    struct file_summary **of_call; /* in the spool, by procedure; NULL: none in this buffer */
    uint64_t latest_exit, latest_sent;
    uint16_t latest; /* procedure of the latest call that was summed up */
};

/* Other threads look at a thread's buffer when they close the run, between store_begin and store_end. The thread itself
 * goes on without a lock: it alone changes the counts, and nothing below a count but the run of polls. */
struct thread {
    enum gate gate;
    bool finalizing;            /* in MPI_Finalize, whose time began before its wrapper looks for its path */
    bool without_buffer;        /* there was no memory: its calls are only counted */
    bool measured;              /* its rows lie elsewhere meanwhile: the set of counters must stay (overhead.c) */
    int mode;                   /* bits of enum mode; 0: every row is recorded */
    void *inside;               /* stack frame of the recorded call that is going on */
    uint32_t index;             /* order of first call in the process */
    int32_t tid;                /* the kernel's number of it */
    struct spool_header *spool; /* counts of rows live here, so they survive the process */
    void *rows[BUFFERED_TABLES];
    uint64_t capacity[BUFFERED_TABLES]; /* 0: the run is closed */
    uint64_t written[BUFFERED_TABLES];  /* the first rows are in the file already: another thread has closed the run */
    uint64_t closed_at; /* ticks: the end of its latest block of those that are written once the run is closed */
    uint64_t spool_bytes;
    struct file_poll *poll; /* in the spool: the run of failing polls that is going on; NULL: none */
    uint64_t calls;         /* that went to the file or were lost */
    uint64_t lost_calls, lost_rows;
    uint32_t readings;         /* of the counters, of each call: at its entry and at its exit; 0: none */
    uint32_t set;              /* of counters that is read */
    struct counting *counting; /* this thread's counters; NULL: none */
    struct trigger *trigger;   /* when they are to be sampled, by what the thread has done; NULL: not by that */
    uint64_t left_out_calls;   /* in buffers that were dropped to keep to a limit */
    uint32_t buffers;          /* that were full, or the last */
    struct off off;
    struct summed summed;
    struct off_cpu off_cpu;
    struct stack_memory *stacks;      /* whose paths it remembers (places.c); NULL: none yet */
    uint32_t path;                    /* of the call that is going on, or was the last; 0: not known */
    struct scratch handles, statuses; /* working copies for calls with arrays */
    struct thread *next;
};

extern __thread struct thread self __attribute__((tls_model("initial-exec")));

/* Return at least `bytes` of working memory that lasts until the thread's next use of it; NULL if there is no memory.
 */
void *scratch_get(struct scratch *s, uint64_t bytes);

/* Return the gate of a thread (relaxed). */
static inline enum gate thread_gate(const struct thread *t)
{
    return __atomic_load_n(&t->gate, __ATOMIC_RELAXED);
}
/* Set the gate of a thread (relaxed). threads_shut sets that of other threads, too. */
static inline void thread_set_gate(struct thread *t, enum gate gate)
{
    __atomic_store_n(&t->gate, gate, __ATOMIC_RELAXED);
}

/* End the run of failing polls: the next poll gets a row of its own. */
static inline void thread_end_polls(struct thread *t)
{
    __atomic_store_n(&t->poll, NULL, __ATOMIC_RELAXED);
}

/* Count `n` complete rows (release). A kill before this loses the rows, after it does not; and a thread that closes the
 * run takes them or not. */
static inline void thread_commit_rows(struct thread *t, enum table table, uint64_t n)
{
    __atomic_store_n(&t->spool->count[table], t->spool->count[table] + n, __ATOMIC_RELEASE);
}
/* Count one complete row. */
static inline void thread_commit(struct thread *t, enum table table)
{
    thread_commit_rows(t, table, 1);
}

/* Note that a call is about to be made, entered at `ticks`: a process that is killed inside it leaves this behind. */
static inline void thread_enter(struct thread *t, uint16_t call, uint64_t ticks)
{
    t->spool->entered = ticks;
    t->spool->entered_call = call;
    t->spool->entered_path = t->path;
}

#endif
