#ifndef RESPONDER_H
#define RESPONDER_H

/* Timing of a collective by the answers of one rank (Nupairoj and Ni 1994). times_s[n], in seconds, is filled at the
 * root. All functions are called by all ranks, return MPI's error code, and stop at the first error. */

/* Time n rounds of the collective and an answer of `responder`, which answers `wait_s` seconds after its part. */
int responder_loop(const struct collective *c, int64_t n, int32_t responder, double wait_s, double *times_s);

/* Time n answers alone: half of the round trip of one byte. */
int responder_answers(const struct collective *c, int64_t n, int32_t responder, double *times_s);

#endif
