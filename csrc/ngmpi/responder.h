#ifndef RESPONDER_H
#define RESPONDER_H

/* Times a collective by the answers of one rank (Nupairoj and Ni 1994). `times_s` has room for n, and is filled in at
 * the root. All functions return MPI's error code, and stop at the first. */

/* n times: the collective, and an answer from `responder`, which it sends `wait_s` after it has taken part. */
int responder_loop(const struct collective *c, int64_t n, int32_t responder, double wait_s, double *times_s);

/* n answers alone: half of each round trip of one byte. */
int responder_answers(const struct collective *c, int64_t n, int32_t responder, double *times_s);

#endif
