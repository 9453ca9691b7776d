#ifndef CLOCK_REPAIR_H
#define CLOCK_REPAIR_H
#include "rows/clock.h"

/* Repairs the clocks of ranks with a controlled logical clock: it moves times (ns) later, as little as possible, so
   that nothing is received before it was sent. analyzer/recording/run/clock_repair.py describes the method.

   Points (POINT of analyzer.pairing.dependences) come in groups. A sink must come at least `latency` ns after the
   sources of other ranks before it in its group. */
struct repair;

/* Create a repair that moves nothing yet. latency: ns. Returns NULL if there is no memory. */
struct repair *repair_new(int64_t ranks, int64_t latency);

/* Free a repair; NULL is ignored. */
void repair_free(struct repair *repair);

/* Return the number of sinks among n points that are too early in the recorded times. worst: receives the largest
   excess (ns). */
int64_t repair_count(const struct repair *repair, const void *points, int64_t n, int64_t *worst);

/* Move the sinks that are too early, and with them, less and less, the later times of their ranks. To be repeated
   over all points until it returns 0. Returns the number of sinks moved; -1: no memory. */
int64_t repair_forward(struct repair *repair, const void *points, int64_t n);

/* Make the maps of all ranks. The times before a moved sink are moved, too, less and less, but a source not beyond
   the limit that repair_cap found for it. Returns -1 if there is no memory. */
int64_t repair_amortize(struct repair *repair);

/* Find the sources that the maps move too far; to be called once over all points. Returns their number; -1: no
   memory. */
int64_t repair_cap(struct repair *repair, const void *points, int64_t n);

/* Return the number of pieces of a rank's map; 0: its times are not changed. Copies them to `pieces` unless that is
   NULL. */
int64_t repair_map(const struct repair *repair, int64_t rank, struct clock_piece *pieces);

#endif
