#ifndef INTERRUPTIONS_H
#define INTERRUPTIONS_H

#include <stdint.h>

struct lane;

/* When a thread did what is not the program's: wrote buffers, measured clocks, recorded nothing. From its n events
   (struct file_event, in order; others among them do not matter) to struct trace_flush, in order and disjoint, of which
   there are n + 1 at most; returns their number.

   What began and did not end lasts until lane->stop. Recording that goes on without having stopped did not begin
   before. */
int64_t interruptions(const struct lane *lane, const void *events, int64_t n, void *flushes);

#endif
