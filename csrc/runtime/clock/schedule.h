/* When clocks are measured besides MPI_Init and MPI_Finalize: what TRACELIB_SYNC asks for. */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct schedule {
    bool all;                  /* every rank's clock, not only that of other nodes */
    uint64_t step;             /* collectives from one measurement to the next; 0: not by count */
    int64_t interval_ns;       /* wanted distance of measurements; 0: not by time */
    uint64_t last_count, last; /* collectives at the latest measurement, and how many the one before it was away */
    int64_t last_ns;           /* time of the latest measurement */
};

/* Read TRACELIB_SYNC: words with commas between them, of `all`, `collectives:1000`, `every:10s`. Another word is
 * reported (by the rank that `speaks`) and ignored.
 * Context: MPI_Init, no lock. */
struct schedule schedule_read(bool speaks);

/* Return the number of the next collective to measure at, after a measurement at collective `count` at `now_ns`
 * (CLOCK_MONOTONIC); 0: none. By time, it is the collective at which the interval will have passed if collectives come
 * at their present rate, and at most twice as many collectives away as the last time. So the first points are the
 * collectives 1, 3, 7, 15, ..., and a program that slows down is followed.
 * Context: one thread at a time: the caller owns `*s`. */
uint64_t schedule_next(struct schedule *s, uint64_t count, int64_t now_ns);

/* Return the time in ns that `length` bytes of text give, such as "10s"; 0 if it is no time from 1 ms to a week.
 * Context: any thread, no lock; not in a signal handler. */
int64_t schedule_interval_ns(const char *text, size_t length);

/* Return the whole number from 1 that `length` bytes of text give; 0 if they give none.
 * Context: any thread, no lock. */
uint64_t schedule_number(const char *text, size_t length);

#endif
