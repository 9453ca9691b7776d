#ifndef MATCH_LANES_H
#define MATCH_LANES_H
#include "lanes/stored_lane.h"
#include "matching/match.h"

/* Look for rows of requests of n threads that belong to an earlier window than the one they lie in (the row of a
   receive comes where it is completed), and collect them (LATE of analyzer.recording.matching.rank_sides). bounds:
   (windows + 1) ns; window w is [bounds[w], bounds[w + 1]), but the first window has no begin and the last has no
   end. Returns n, or the number of the first thread that must be read otherwise, whose rows are not collected; -1:
   no memory. */
int64_t match_find_late(struct matcher *matcher, const struct stored_lane *lanes, int64_t n, const int64_t *bounds,
                        int64_t windows);

/* Return the number of late rows that match_take_late will give. */
int64_t match_late_found(const struct matcher *matcher);

/* Copy the late rows to `late` and forget them. */
void match_take_late(struct matcher *matcher, void *late);

/* Add the calls and requests of n threads, each the only thread of its rank, in the next window, [begin, end) (ns;
   INT64_MIN, INT64_MAX: open). taken: (n, 2), the first call and the first request to read of each thread; moved on.
   late: the n_late late rows of this window, by rank. Returns the number of threads that were added. It is less than
   n if more than `most` messages are complete, or if the next thread is unusual (see match_add_rows) and was not
   added; if its rows can be read, `taken` moves past them all the same. Returns -1 if there is no memory. */
int64_t match_add_lanes(struct matcher *matcher, const struct stored_lane *lanes, int64_t n, int64_t *taken,
                        int64_t begin, int64_t end, const void *late, int64_t n_late, int64_t most);

#endif
