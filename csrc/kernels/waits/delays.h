#ifndef DELAYS_H
#define DELAYS_H
#include <stdint.h>

/* A segment of a lane: from `begin` (ns) to the begin of the next segment the lane does `activity`; 0 is waiting. */
struct delay_segment {
    int64_t begin;
    int32_t activity;
    int32_t reserved;
};

/* A wait of `lane` from enter to end, for `cause` to enter a call at cause_enter; the two were last in step at `since`.
   `place` is its position among all waits by lane, then by time. */
struct delay_wait {
    int64_t enter, end, cause_enter;
    int64_t since;
    int64_t place;
    int32_t lane, cause;
};

/* Tables of all lanes. segments: by lane; those of lane l begin at segment_first[l], and the last of each lane marks
   its end. entered: the entries of all waits (ns) by place; those of lane l begin at place_first[l]. waited_before:
   the waiting (ns) of all waits before each place, one element more than waits. */
struct delay_tables {
    const struct delay_segment *segments;
    const int64_t *segment_first;
    const int64_t *place_first;
    const int64_t *entered;
    const int64_t *waited_before;
    int64_t lanes, activities;
};

/* Numbers by place that are known when the wait is taken. All are 0 at first. */
struct delay_charges {
    double *charge; /* for each ns: added to the lane's running charge */
    double *alone;  /* charge of this wait alone */
};

struct delays;

/* Create the search for the causes of delays. The tables and charges stay the caller's and must outlive it. Returns
   NULL if there is no memory. */
struct delays *delays_new(const struct delay_tables *tables, const struct delay_charges *charges);

/* Free the search. */
void delays_free(struct delays *delays);

/* Read the segments of one lane; to be called for each lane before the first delays_take. */
void delays_add_lane(struct delays *delays, int64_t lane);

/* Take n waits, in order of their end, from the last to the first; waits that were given in earlier calls end later.
   costs: (lanes, activities, 2), added to: [0] the waiting (ns) that delays of the lane cause directly, [1] the
   waiting that they cause by way of other waits. indirect: by place, receives the part of the wait that is due to
   waits of its cause. caused: by place, receives the later waiting that the wait causes. */
void delays_take(struct delays *delays, const struct delay_wait *waits, int64_t n, double *costs, double *indirect,
                 double *caused);

#endif
