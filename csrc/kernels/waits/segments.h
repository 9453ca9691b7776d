#ifndef SEGMENTS_H
#define SEGMENTS_H
#include <stdint.h>

#include "waits/delays.h"

/* What a point is of, and the values that it may have. */
enum segment_kind {
    SEGMENT_PATH,   /* number of the path */
    SEGMENT_CALL,   /* 1 + its procedure; 0: none */
    SEGMENT_WAIT,   /* whether the thread waits */
    SEGMENT_LOST,   /* what it does outside of calls */
    SEGMENT_TRACER, /* whether the tracer has it after a call */
    SEGMENT_KINDS
};

/* From `time` on, what it is of has this value. */
struct segment_point {
    int64_t time, value;
    int32_t of, reserved;
};

/* What threads do on a path, by path * what + what they do there: the numbers of these from 1, in order of appearance
   (`number`, 0: it has none yet), and back (`known`). There is room for all that can occur. Outside of calls a thread
   does what a SEGMENT_LOST says, or `of_tracer`; in them `first_call` + the procedure. */
struct activities {
    int32_t *number;
    int64_t *known;
    int64_t n, what, first_call, of_tracer;
};

/* One thread from window to window. */
struct segment_walk;
struct segment_walk *segment_walk_new(void); /* NULL: no memory */
void segment_walk_free(struct segment_walk *walk);

/* It begins anew, with another thread. */
void segment_walk_begin(struct segment_walk *walk);

/* How many segments a call of the next two functions writes at most, beside 4 for each call and one for each point. */
int64_t segment_walk_room(const struct segment_walk *walk);

/* The segments that begin before `end`, from the next n calls (struct trace_call, those of `thread` alone) and other
   points (in order of time) before it. Returns how many; -1: no memory. */
int64_t segment_walk_window(struct segment_walk *walk, struct activities *activities, const void *calls, int64_t n,
                            int32_t thread, const struct segment_point *points, int64_t n_points, int64_t end,
                            struct delay_segment *out);

/* The last segments, and a mark of the end: what the thread did last, or `end` if that is later; but those written
   before, the last `written` of which stand before `out`, that begin later are gone. Returns how many more there are
   now, which may be less than none; INT64_MIN: no memory. */
int64_t segment_walk_end(struct segment_walk *walk, struct activities *activities, const struct segment_point *points,
                         int64_t n_points, int64_t end, int64_t written, struct delay_segment *out);

/* When the first segment begins; 0: there is none. */
int64_t segment_walk_first(const struct segment_walk *walk);

/* Which calls and points are those of a thread (of its rank, of which only its own count), and its end. */
struct segment_lane {
    int64_t first_call, calls, first_point, points, end;
    int32_t thread, reserved;
};

/* All segments of n threads, whose calls all lie before `end`. counts[k]: how many one has; firsts[k]: when they begin.
   Returns how many these are; -1: no memory. Room: for each thread 4 * calls + points + 1. */
int64_t segments_of(struct activities *activities, int64_t n, const void *calls, const struct segment_lane *lanes,
                    const struct segment_point *points, int64_t end, int64_t *counts, int64_t *firsts,
                    struct delay_segment *out);

#endif
