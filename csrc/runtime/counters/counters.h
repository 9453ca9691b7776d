/* Counters read at the entry and the exit of every recorded call: which ones, and each thread's own.
 *
 * A set is read as a whole. A thread reads one set at a time; its readings are in the table `counts`, beside the rows
 * of `calls`. They are read outside the time stamps: at the entry before the stamp, at the exit after it and in the
 * reverse order, so that neither the time in MPI nor the counts of a burst contain a reading but in part. */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "schema.h"

struct store;
struct thread;

enum { MOST_COUNTERS = 32, MOST_SETS = 32 };

/* A reading that could not be taken. */
#define NOT_READ UINT64_MAX

struct counter {
    char name[sizeof((struct file_counter *)0)->name];
    enum counterbackend backend;
    uint32_t type; /* Paraver event type */
    uint32_t kind; /* as the backend names it */
    uint64_t code;
};

/* The counters of one backend are neighbours, in the order of the backends. */
struct counter_set {
    unsigned n;
    struct counter counters[MOST_COUNTERS];
};

/* Where readings come from. */
struct backend {
    /* Fill in kind, code and type of a counter by its name. NULL, or why there is no such counter. */
    const char *(*find)(struct counter *c);
    /* Count for the calling thread from here on. NULL, and *why: not all of these together. */
    void *(*open)(const struct counter *counters, unsigned n, const char **why);
    /* False: none could be read. */
    bool (*read)(void *handle, uint64_t *values);
    /* The same by another thread of the process than the one (`tid`) that counts; NULL: it cannot. */
    bool (*read_other)(void *handle, pid_t tid, uint64_t *values);
    void (*close)(void *handle);
};

extern const struct backend cpu_clock_backend, perf_backend, papi_backend;
enum { BACKENDS = COUNTERBACKEND_PAPI + 1 };

extern const char cpu_time_name[], perf_prefix[];

/* Names of the kernel's events, without the prefix; NULL behind the last. */
const char *perf_event_name(unsigned i);

/* Find a counter by its name, and the backend that reads it. Returns NULL, or why there is none. */
const char *counters_find(const char *name, struct counter *c, const struct backend **backend);

/* Return the type of a counter for which Extrae has no number. */
uint32_t counter_type_by_name(const char *name);

/* Read TRACELIB_COUNTERS and TRACELIB_CPUTIME, and find out which of the counters count here.
 * Context: while the run is prepared. */
void counters_prepare(void);

/* Return the most readings of one call, whatever is decided in MPI_Init. */
unsigned counters_most_readings(void);

/* Add a counter to the line that names what is not counted. */
void counters_note(const char *name, const char *why);

/* Return set `number`, from 1; NULL for 0.
 * Context: any thread, no lock, after counters_prepare. */
const struct counter_set *counters_set(uint32_t number);

/* True if a counter of the present set can be read from another thread. Names the others if it `speaks`. */
bool counters_can_be_sampled(bool speaks);

/* Write the table of all sets into the file of a process that records without MPI.
 * Context: between store_begin and store_end. */
void counters_started_alone(struct store *store);

/* Decide whether CPU time is read, and write the table of all sets into the file (`store` NULL: there is none).
 * Context: collective, in MPI_Init, between store_begin and store_end. */
void counters_started(struct store *store, int rank, int size);

/* Return the number of the set that a thread should read now; 0: none (rotation.c). Sets take turns; until MPI_Init is
 * done it is the first.
 * Context: any thread, no lock. */
uint32_t rotation_current(void);
void rotation_prepare(unsigned first, unsigned sets);
void rotation_start(unsigned first, unsigned sets, int rank, const int *places, unsigned wanted);

/* True if sets take turns by time, by the number of collectives. */
extern bool rotation_by_time, rotation_by_collectives;

/* Open the way to another set (GATE_DUE) if it is time for it, at the exit of a call.
 * Context: the thread itself, inside its gate. */
void rotation_look(struct thread *t);

/* Count a collective over the world, at its exit, then as rotation_look. */
void rotation_collective(struct thread *t);

/* The calling thread's counting begins with the current set, goes over to another, ends (counting.c). */
void counting_begin(struct thread *t);
void counting_change(struct thread *t, uint32_t number);
void counting_end(struct thread *t);

/* The set was changed inside a call, and the buffer divided for it: the call's entry was not read in this set, which
 * counts from now on. */
void counting_change_inside(struct thread *t);

/* True if CPU time is the first reading of the thread's set. */
bool counting_cpu_time(const struct thread *t);

/* Read the counters at the entry, and at the exit, of a call, into the thread's buffer.
 * Context: the thread itself, no lock. */
void counting_enter(struct thread *t);
void counting_exit(struct thread *t);

/* End a call at whose exit nothing was read: it counted nothing. */
void counting_left(struct thread *t);

/* Take the counts of the call that has just been read out of all later readings: it gets no row. */
void counting_skip(struct thread *t);

/* Read the counters of the calling thread now, into room for as many values as its set has counters. */
void counting_read(const struct thread *t, uint64_t *values);

/* Read the counters of another thread. The values are of no use if that thread was in the tracer meanwhile: if
 * counting_changes is odd, or not what it was before.
 * Context: between store_begin and store_end. */
void counting_read_other(const struct thread *t, uint64_t *values);

/* Return the number of changes of a thread's counting; odd: it is changing now. */
uint32_t counting_changes(const struct thread *t);

/* Begin, and end, a time in which only the calling thread reads its counters. */
void counting_alone_begin(struct thread *t);
void counting_alone_end(struct thread *t);

/* Return the set of a thread that has readings. */
const struct counter_set *counting_set(const struct thread *t);

/* Readings at counting_hold: until counting_resume nothing is counted, for the tracer's own work. */
struct counting_pause {
    uint64_t since[MOST_COUNTERS];
};
void counting_hold(struct thread *t, struct counting_pause *pause);
void counting_resume(struct thread *t, const struct counting_pause *pause);

#endif
