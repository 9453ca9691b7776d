#ifndef INTERRUPTIONS_H
#define INTERRUPTIONS_H

#include <stdint.h>

struct lane;

/* Find the intervals in which a thread did something that is not the program's: it wrote buffers, measured clocks,
   found call paths, waited for a CPU, or did not record. Reads the thread's n events (struct file_event, in order;
   other types are skipped) and writes struct trace_flush, in order and disjoint; room: n + 1. Returns the number of
   intervals.

   An interval without an end lasts until lane->stop. If the first event of tracing switches it on, the thread did
   not record before it. */
int64_t interruptions(const struct lane *lane, const void *events, int64_t n, void *flushes);

#endif
