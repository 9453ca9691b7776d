#include "ranks/overhead.h"

#include <stdlib.h>
#include <string.h>

#include "counters/counters.h"
#include "mpi/abi.h"

enum { CALLS = 64, GAPS = CALLS - 1, ROUNDS = 16, MOST_READINGS = 64 };

/* A wrapper as that of MPI_Send, which no other library can take the place of, and which calls none but MPI
 * (csrc/generate/wrappers.py). */
word own_MPI_Send(word buf, word count, word datatype, word dest, word tag, word comm);

/* A mean, for a time stamp may have a coarser step than one gap. */
static uint64_t mean_gap(const struct file_call *calls)
{
    uint64_t sum = 0;
    for (int i = 0; i < GAPS; i++) sum += calls[i + 1].enter - calls[i].exit;
    return (sum + GAPS / 2) / GAPS;
}

/* CPU time is the first of the readings at each entry and exit, where it is one of them. */
static uint64_t mean_cpu_gap(const uint64_t *counts, uint32_t readings)
{
    uint64_t sum = 0;
    for (int i = 0; i < GAPS; i++)
        sum += counts[(uint64_t)(i + 1) * readings] - counts[(uint64_t)i * readings + readings / 2];
    return (sum + GAPS / 2) / GAPS;
}

/* Memory in place of the thread's buffer, so that the calls never were. */
struct aside {
    struct spool_header spool;
    struct file_call calls[CALLS];
    uint64_t counts[CALLS * MOST_READINGS];
    uint32_t paths[CALLS];
};

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Put back the fields that say where a thread records. The rest of `struct thread` is not ours to restore: threads that
 * end meanwhile change the list that it is in. */
static void put_back(struct thread *t, const struct thread *before)
{
    t->mode = before->mode;
    t->measured = false;
    t->spool = before->spool;
    memcpy(t->rows, before->rows, sizeof t->rows);
    memcpy(t->capacity, before->capacity, sizeof t->capacity);
    t->inside = before->inside;
    t->path = before->path;
    thread_end_polls(t);
    thread_set_gate(t, thread_gate(before));
}

struct overhead overhead_measure(struct thread *t, word comm)
{
    struct aside *aside = calloc(1, sizeof *aside);
    struct thread before = *t;
    struct overhead least = {UINT64_MAX, UINT64_MAX};
    if (!aside) return (struct overhead){0, 0};
    t->mode = 0;
    t->measured = true;
    thread_end_polls(t);
    t->spool = &aside->spool;
    t->rows[TABLE_CALLS] = aside->calls;
    t->rows[TABLE_COUNTS] = aside->counts;
    t->rows[TABLE_CALL_PATHS] = aside->paths;
    t->capacity[TABLE_CALLS] = CALLS;
    t->capacity[TABLE_COUNTS] = CALLS * MOST_READINGS;
    for (int round = 0; round < ROUNDS; round++) {
        aside->spool.count[TABLE_CALLS] = aside->spool.count[TABLE_COUNTS] = 0;
        thread_set_gate(t, GATE_OPEN);
        for (int i = 0; i < CALLS; i++) own_MPI_Send(0, 0, abi.byte, abi.proc_null, 0, comm);
        bool recorded = aside->spool.count[TABLE_CALLS] == CALLS;
        least.ticks = min_u64(least.ticks, recorded ? mean_gap(aside->calls) : 0);
        least.cpu_ns =
            min_u64(least.cpu_ns, recorded && counting_cpu_time(t) ? mean_cpu_gap(aside->counts, t->readings) : 0);
    }
    put_back(t, &before);
    free(aside);
    return least;
}
