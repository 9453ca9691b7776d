#ifndef STRUCTURE_BINS_H
#define STRUCTURE_BINS_H
#include "rows/lane.h"

/* Step functions of time, of which only what changes in each bin is kept: `change` is how much the function grows in
   the bin, `area` how much of these changes, times ns, lies in the bin itself. A signal is the sum of such steps. */
struct signal_bins {
    int64_t begin, end, width, count; /* ns, ns, ns, bins; the last one may be shorter */
    double *change, *area;            /* `count` each */
};

/* Add `weight` (NULL: 1) over each of n intervals [from, to) in ns. */
void signal_add(const struct signal_bins *bins, const int64_t *from, const int64_t *to, const double *weight,
                int64_t n);

/* Kinds of procedures for the signals. */
enum signal_kind { SIGNAL_OTHER, SIGNAL_MESSAGES, SIGNAL_COLLECTIVE, SIGNAL_CLOCK };

/* Add calls (struct trace_call) of one rank, in order of entry, to four signals: bins[0], number of threads that
   compute; bins[1], sum of the lengths of their bursts (ns); bins[2], number of threads in calls of messages;
   bins[3], in collectives. left: ns, the end of each thread's last call, or its begin; moved on. A call of
   SIGNAL_CLOCK is computation. kinds: enum signal_kind by procedure. */
void signal_calls(const struct signal_bins *bins, const void *calls, int64_t n, const uint8_t *kinds, int64_t *left);

/* Add rows of a thread's file (struct file_call, file_poll), each table in order of entry, as signal_calls. */
void signal_rows(const struct signal_bins *bins, const struct lane *lane, const void *calls, int64_t n_calls,
                 const void *polls, int64_t n_polls, const uint8_t *kinds, int64_t *left);

#endif
