#ifndef MATCH_LANES_H
#define MATCH_LANES_H
#include "lanes/stored_lane.h"
#include "matching/match.h"

/* Looks for rows of requests of n threads that belong to an earlier window than they lie in (the row of a receive comes
   where it is completed), and puts them to those that were found: LATE of analyzer.recording.matching.rank_sides.
   Window w is [bounds[w], bounds[w + 1]) (ns), the first one open to the past and the last one to the future. Returns
   n, or the number of the first thread that is to be read otherwise (of which none is found); -1: no memory. */
int64_t match_find_late(struct matcher *matcher, const struct stored_lane *lanes, int64_t n, const int64_t *bounds,
                        int64_t windows);

/* How many were found, and not taken yet; takes them. */
int64_t match_late_found(const struct matcher *matcher);
void match_take_late(struct matcher *matcher, void *late);

/* Adds what n threads, each the only one of its rank, did in the next window, [begin, end) (ns; INT64_MIN, INT64_MAX:
   open): their rows from number taken[2 * k] (calls) and taken[2 * k + 1] (requests) on, which is moved on, and those
   late ones (n_late, in order of ranks) that belong to it. Returns how many were added: behind the last one more than
   `most` messages are complete, or the next one is unusual, as match_add_rows has it, and was not added; its rows are
   taken all the same, if they can be read. -1: no memory. */
int64_t match_add_lanes(struct matcher *matcher, const struct stored_lane *lanes, int64_t n, int64_t *taken,
                        int64_t begin, int64_t end, const void *late, int64_t n_late, int64_t most);

#endif
