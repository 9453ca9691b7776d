#ifndef CLOCK_REPAIR_H
#define CLOCK_REPAIR_H
#include "rows/clock.h"

/* A controlled logical clock: times of ranks (ns) moved later, as little as possible, so that nothing is received
   before it was sent. analyzer/recording/run/clock_repair.py says how.

   Points (POINT of analyzer.pairing.dependences) come in groups: a sink must not be earlier than the sources of other
   ranks before it in its group, by `latency`. */
struct repair;

struct repair *repair_new(int64_t ranks, int64_t latency);
void repair_free(struct repair *repair);

/* Sinks that are too early as they stand; the largest excess into `worst`. */
int64_t repair_count(const struct repair *repair, const void *points, int64_t n, int64_t *worst);

/* Move sinks that are too early, and with them, less and less, what follows on their ranks. How many were; -1: memory.
   To be repeated over all points until there is none. */
int64_t repair_forward(struct repair *repair, const void *points, int64_t n);

/* Make the maps of all ranks: what lies before a moved sink is moved, too, less and less, but no source so far as
   repair_cap found that it may be. -1: memory. */
int64_t repair_amortize(struct repair *repair);

/* Find the sources that the maps move too far, over all points once. How many; -1: memory. */
int64_t repair_cap(struct repair *repair, const void *points, int64_t n);

/* The number of pieces of a rank's map, 0 if it is as it was; copied to `pieces` unless that is NULL. */
int64_t repair_map(const struct repair *repair, int64_t rank, struct clock_piece *pieces);

#endif
