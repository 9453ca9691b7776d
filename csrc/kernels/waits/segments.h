#ifndef SEGMENTS_H
#define SEGMENTS_H
#include <stdint.h>

#include "waits/delays.h"

/* Kinds of points, and the values that they may have. */
enum segment_kind {
    SEGMENT_PATH,   /* number of the path */
    SEGMENT_CALL,   /* 1 + its procedure; 0: none */
    SEGMENT_WAIT,   /* whether the thread waits */
    SEGMENT_LOST,   /* what it does outside of calls */
    SEGMENT_TRACER, /* whether the tracer has it after a call */
    SEGMENT_KINDS
};

/* A change: from `time` (ns) on, the kind `of` has this value. */
struct segment_point {
    int64_t time, value;
    int32_t of, reserved;
};

/* Numbers of activities, from 1 in order of appearance. An activity is a path and what a thread does there; its key
   is path * what + what the thread does. number: by key (0: none yet); known: the key of each number. Both arrays
   have room for all that can occur. Outside of calls a thread does what a SEGMENT_LOST says, or `of_tracer`; in
   calls `first_call` + the procedure. */
struct activities {
    int32_t *number;
    int64_t *known;
    int64_t n, what, first_call, of_tracer;
};

/* State of one thread, from window to window. */
struct segment_walk;
struct segment_walk *segment_walk_new(void); /* NULL: no memory */

/* Free the state. */
void segment_walk_free(struct segment_walk *walk);

/* Begin with another thread. */
void segment_walk_begin(struct segment_walk *walk);

/* Return the number of segments that a call of the next two functions writes at most, in addition to 4 for each call
   and one for each point. */
int64_t segment_walk_room(const struct segment_walk *walk);

/* Write the segments that begin before `end` (ns), from the next n calls (struct trace_call; only those of `thread`
   count) and n_points points, in order of time, before it. Returns the number of segments; -1: no memory. */
int64_t segment_walk_window(struct segment_walk *walk, struct activities *activities, const void *calls, int64_t n,
                            int32_t thread, const struct segment_point *points, int64_t n_points, int64_t end,
                            struct delay_segment *out);

/* Write the last segments, and a mark of the end: the time of the thread's last action, or `end` (ns) if that is
   later. Segments written before that begin later are removed; the last `written` of them stand before `out`.
   Returns the change of the number of segments, which may be negative; INT64_MIN: no memory. */
int64_t segment_walk_end(struct segment_walk *walk, struct activities *activities, const struct segment_point *points,
                         int64_t n_points, int64_t end, int64_t written, struct delay_segment *out);

/* Return when the first segment begins (ns); 0: there is none. */
int64_t segment_walk_first(const struct segment_walk *walk);

/* The calls and points of a thread, and its end (ns). The calls are those of its rank; only its own count. */
struct segment_lane {
    int64_t first_call, calls, first_point, points, end;
    int32_t thread, reserved;
};

/* Write all segments of n threads, whose calls all lie before `end` (ns). counts: (n), number of segments of each.
   firsts: (n), their begins. out: room for 4 * calls + points + 1 for each thread. Returns the number of segments;
   -1: no memory. */
int64_t segments_of(struct activities *activities, int64_t n, const void *calls, const struct segment_lane *lanes,
                    const struct segment_point *points, int64_t end, int64_t *counts, int64_t *firsts,
                    struct delay_segment *out);

#endif
