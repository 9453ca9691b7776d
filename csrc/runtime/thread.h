/* One thread's recording: its buffer in a mapped spool, and the rows it appends without any lock. */
#ifndef THREAD_H
#define THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "schema.h"
#include "skipped.h"

enum gate {
    GATE_OPEN,   /* outside MPI: the next call is recorded */
    GATE_INSIDE, /* inside a recorded call: what MPI calls itself is not recorded */
    GATE_DUE,    /* at the end of a recorded call: another set of counters is to be read from here on */
    GATE_NEW,    /* this thread has made no call yet */
    GATE_SHUT,   /* this thread is not recorded (tracing is off, or failed) */
};

/* Working memory of one thread. */
struct scratch {
    void *memory;
    uint64_t bytes;
};

/* What a thread knows of tracing being off (switch.c). */
struct off {
    uint64_t since;         /* ticks */
    uint64_t checked;       /* ticks: when it last looked at the clock */
    struct skipped skipped; /* messages since then */
    size_t join_at;         /* so many are worth being joined */
    uint32_t *regions;      /* that it is in, the innermost last: 2 x number, and 1 if it is to be recorded */
    size_t depth, room;     /* of `regions` */
};

/* What a thread knows of calls that are only summed up (choice.c). */
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
    bool without_buffer;        /* there was no memory: its calls are only counted */
    int mode;                   /* 0: every row is recorded; else switch.c decides */
    void *inside;               /* stack frame of the recorded call that is going on */
    uint32_t index;             /* order of first call in the process */
    struct spool_header *spool; /* counts of rows live here, so they survive the process */
    void *rows[BUFFERED_TABLES];
    uint64_t capacity[BUFFERED_TABLES]; /* 0: the run is closed */
    uint64_t written[BUFFERED_TABLES];  /* the first rows are in the file already: another thread has closed the run */
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
    struct scratch handles, statuses; /* working copies for calls with arrays */
    struct thread *next;
};

extern __thread struct thread self __attribute__((tls_model("initial-exec")));

/* The end of a recorded call whose gate is not what it was. */
void thread_left(struct thread *t);

/* Slow path of a wrapper whose gate is not open: true if the call with this stack frame is to be recorded after all. */
bool thread_open(struct thread *t, void *frame);

/* Empty a full buffer into the file. */
void thread_flush(struct thread *t);

/* Does nothing wait in the buffer but events? Then it may be divided anew, for another number of readings. */
bool thread_is_empty(const struct thread *t);
void thread_divide(struct thread *t);
void thread_divide_for_sampler(struct thread *t); /* events, and one row of everything else */
uint64_t thread_buffer_bytes(void);               /* that each thread's buffer takes */

/* Every spool, present and future, says in which rank file its rows belong; "": in that which names the spool. Under
 * the store's lock. */
void threads_name_file(const char *path);

/* Everything that any thread still holds goes to the file: MPI_Finalize, exit. False: exit was called by a signal
 * handler in the middle of a flush; all stays as after a kill. */
bool threads_close(void);

/* Nobody finds the spools any more: the file says that all is there. Between store_begin and store_end. */
void threads_remove_spools(void);

/* No thread is recorded from here on. */
void threads_shut(void);

/* Add to the mode of all threads. Between store_begin and store_end. */
void threads_set_mode(int mode);

/* Calls of a thread's block were dropped from the file. Between store_begin and store_end. */
void threads_left_out(uint32_t index, uint64_t calls);

/* In a forked child: the buffers and the file are the parent's. */
void threads_disown(void);

/* The calling thread is none of the program's: it keeps SAMPLER_THREAD's rows, of which all are events. */
bool thread_join_as_sampler(void);

/* Between store_begin and store_end. */
void threads_each(void (*visit)(struct thread *t, void *data), void *data);

/* Readings of the calling thread's counters as of `time`. */
void thread_store_readings(struct thread *t, uint64_t time, const uint64_t *values);

/* Room in the buffer for so many events: they will not be parted by a flush. */
void thread_need_events(struct thread *t, uint64_t n);

/* Sums over all threads. */
struct totals {
    uint64_t calls, lost_calls, lost_rows, left_out_calls;
    uint64_t waiting_bytes; /* in buffers */
};
struct totals threads_totals(void);

/* At least `bytes` of working memory that lasts until the thread's next use; NULL if there is none. */
void *scratch_get(struct scratch *s, uint64_t bytes);

static inline enum gate thread_gate(const struct thread *t)
{
    return __atomic_load_n(&t->gate, __ATOMIC_RELAXED);
}
static inline void thread_set_gate(struct thread *t, enum gate gate)
{
    __atomic_store_n(&t->gate, gate, __ATOMIC_RELAXED);
}

/* A poll that comes now has a row of its own. */
static inline void thread_end_polls(struct thread *t)
{
    __atomic_store_n(&t->poll, NULL, __ATOMIC_RELAXED);
}

static inline void *thread_row(struct thread *t, enum table table)
{
    uint64_t capacity = __atomic_load_n(&t->capacity[table], __ATOMIC_RELAXED);
    if (__builtin_expect(t->spool->count[table] >= capacity, 0)) thread_flush(t);
    return (char *)t->rows[table] + t->spool->count[table] * table_layout[table].row_bytes;
}

/* The row is complete: count it. A kill before this line loses the row, after it does not; and who closes the run takes
 * it or not. */
static inline void thread_commit_rows(struct thread *t, enum table table, uint64_t n)
{
    __atomic_store_n(&t->spool->count[table], t->spool->count[table] + n, __ATOMIC_RELEASE);
}
static inline void thread_commit(struct thread *t, enum table table)
{
    thread_commit_rows(t, table, 1);
}

/* The call is about to be made: a process that is killed inside it leaves this behind. */
static inline void thread_enter(struct thread *t, uint16_t call, uint64_t ticks)
{
    t->spool->entered = ticks;
    t->spool->entered_call = call;
}

/* Where tracing is off, or not everything is recorded (switch.c). */
bool switch_keeps_call(struct thread *t, const struct file_call *row);
bool switch_keeps_request(struct thread *t, const struct file_request *row, uint16_t call);
bool switch_keeps_access(struct thread *t, uint64_t enter);

static inline void thread_store_call(struct thread *t, struct file_call row)
{
    if (__builtin_expect(t->mode, 0)) {
        struct file_call copy = row; /* or the row would have an address, and lie in memory twice */
        if (!switch_keeps_call(t, &copy)) return;
    }
    thread_end_polls(t);
    row.thread = (uint16_t)t->index;
    *(struct file_call *)thread_row(t, TABLE_CALLS) = row;
    thread_commit_rows(t, TABLE_COUNTS, t->readings); /* they lie there already: no call without its readings */
    thread_commit(t, TABLE_CALLS);
}

static inline void thread_store_request(struct thread *t, struct file_request row)
{
    if (__builtin_expect(t->mode, 0)) {
        struct file_request copy = row;
        if (!switch_keeps_request(t, &copy, 0)) return;
    }
    row.thread = (uint16_t)t->index;
    *(struct file_request *)thread_row(t, TABLE_REQUESTS) = row;
    thread_commit(t, TABLE_REQUESTS);
}

/* After the row of its call, if that was recorded. */
static inline void thread_store_access(struct thread *t, struct file_access row)
{
    if (__builtin_expect(t->mode, 0) && !switch_keeps_access(t, row.enter)) return;
    row.thread = (uint16_t)t->index;
    *(struct file_access *)thread_row(t, TABLE_ACCESSES) = row;
    thread_commit(t, TABLE_ACCESSES);
}

void thread_store_event(struct thread *t, uint64_t time, uint32_t type, int64_t value);

/* Was the thread's latest call the same, and so short before that both may share a row? */
bool thread_is_repeated(const struct thread *t, const struct file_call *row);

/* A poll that found nothing. */
void thread_count_poll(struct thread *t, uint16_t call, uint64_t enter, uint64_t exit);

#endif
