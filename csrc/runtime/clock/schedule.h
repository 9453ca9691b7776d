/* When clocks are measured besides MPI_Init and MPI_Finalize: what TRACELIB_SYNC asks for. */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct schedule {
    bool all;                  /* every rank's clock, not only that of other nodes */
    uint64_t step;             /* at each so many-th collective; 0: not by count */
    int64_t interval_ns;       /* about so far apart; 0: not by time */
    uint64_t last_count, last; /* collectives at the latest measurement, and how many the one before it was away */
    int64_t last_ns;           /* time of the latest measurement */
};

/* TRACELIB_SYNC: words with commas between them, of `all`, `collectives:1000`, `every:10s`. What is none of these is
 * said (by the rank that `speaks`) and passed over. */
struct schedule schedule_read(bool speaks);

/* Measured at collective number `count`: the number of the next one to measure at; 0: none. By time it is where the
 * interval will have passed if collectives come as often as of late, and at most twice as many of them away as the last
 * time: so the first points are the collectives 1, 3, 7, 15, ..., and a program that slows down is followed. */
uint64_t schedule_next(struct schedule *s, uint64_t count, int64_t now_ns);

/* What `length` bytes of text say: "10s" in ns, a whole number from 1. 0: no time of 1 ms to a week, no such number. */
int64_t schedule_interval_ns(const char *text, size_t length);
uint64_t schedule_number(const char *text, size_t length);

#endif
