#ifndef DELAYS_H
#define DELAYS_H
#include <stdint.h>

/* From `begin` to the begin of the next one of its lane the lane does `activity`; 0 is waiting. */
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

/* All segments, by lane, those of lane l from segment_first[l] on, the last of each a mark at the lane's end; all waits
   by place, those of lane l from place_first[l] on: when they are entered, and the waiting of all before them (one more
   than waits). */
struct delay_tables {
    const struct delay_segment *segments;
    const int64_t *segment_first;
    const int64_t *place_first;
    const int64_t *entered;
    const int64_t *waited_before;
    int64_t lanes, activities;
};

/* By place: the numbers that are known when the wait is taken, all 0 at first. */
struct delay_charges {
    double *charge; /* for a ns: added to the lane's running charge */
    double *alone;  /* what it alone is charged with */
};

struct delays;

/* The tables and charges must stay. NULL: no memory. */
struct delays *delays_new(const struct delay_tables *tables, const struct delay_charges *charges);
void delays_free(struct delays *delays);

/* Looks through the segments of one lane: to be called for each before anything is taken. */
void delays_add_lane(struct delays *delays, int64_t lane);

/* Takes waits (in order of their end) from the last to the first; those given before end later. Adds to
   costs[lane][activity][0] the waiting that delays of the lane cause directly, [1] what they cause by way of other
   waits; writes to indirect how much of the wait of each place is due to waits of its cause, to caused what later
   waits it causes. */
void delays_take(struct delays *delays, const struct delay_wait *waits, int64_t n, double *costs, double *indirect,
                 double *caused);

#endif
