#ifndef TIMELINE_H
#define TIMELINE_H
#include <stdint.h>

/* A trace as Perfetto or Chrome's tracing page shows it: a track for each thread, with a slice for each call and each
   visit of a region, arrows for messages, instants for events of the program, and a track for each counter. */
struct timeline;

enum timeline_format { TIMELINE_PERFETTO, TIMELINE_CHROME };

/* Kinds of names. */
enum timeline_name {
    NAME_OF_CALL,
    NAME_OF_REGION,
    NAME_OF_EVENT,
    NAME_OF_COMM,
    NAME_OF_PLACE,
    NAME_OF_VALUE,
    TIMELINE_NAMES
};

/* Create a timeline. format: TIMELINE_... threads: number of threads of all ranks; each is a lane, counted from 0.
   nodes: number of nodes; their lanes follow. Returns NULL if there is no memory. */
struct timeline *timeline_new(int format, int64_t threads, int64_t nodes);

/* Free a timeline. */
void timeline_free(struct timeline *t);

/* Take the bytes written since the last time. They belong to the timeline, and stay valid until the next call of any
   of its functions. Returns their number; -1: there was no memory for them. */
int64_t timeline_take(struct timeline *t, const char **bytes);

/* Write what comes before all else, and after it. */
void timeline_begin(struct timeline *t);
void timeline_end(struct timeline *t);

/* Write the next name of a kind (NAME_OF_...); the first has the number 0. text: UTF-8, `length` bytes; for Chrome a
   JSON string with its quotes. */
void timeline_name(struct timeline *t, int kind, const char *text, int64_t length);

/* Write the names of a thread and of its rank. first_lane: the first lane of its rank. Texts as for timeline_name. */
void timeline_lane(struct timeline *t, int64_t lane, int64_t first_lane, const char *rank, const char *thread);

/* Write the name of a node. Text as for timeline_name. */
void timeline_node(struct timeline *t, int64_t lane, const char *name);

/* Write the name of a counter of a thread or node, which becomes the track with the number `track`, from 0. Text as
   for timeline_name. */
void timeline_counter(struct timeline *t, int64_t track, int64_t lane, const char *name);

/* The begin of region `region` of a thread (ns), or the end of its innermost region (-1). */
struct timeline_mark {
    int64_t time, region;
};

/* One end of a message's arrow: an arrow is opened at its earlier end and closed at the later one. */
struct timeline_flow {
    int64_t time, id, other; /* ids from 1; other: time of the other end */
    int32_t closes, reserved;
};

struct timeline_value {
    int64_t time, track, value;
};

/* A reading that need not be a whole number. */
struct timeline_measure {
    int64_t time, track;
    double value;
};

/* An event of the program: names are numbers of NAME_OF_EVENT and NAME_OF_VALUE (-1: the value has none). */
struct timeline_note {
    int64_t time, lane, event, value, name;
};

/* The rows of all threads in a window, one lane after the other, in order of time (ns). first_...: (threads + 1),
   the first row of each lane. */
struct timeline_window {
    const void *calls;     /* struct trace_call */
    const int64_t *places; /* by call; 0: not known. NULL: no call has one */
    const struct timeline_mark *marks;
    const struct timeline_flow *sends;
    struct timeline_flow *receives; /* overwritten */
    const int64_t *first_call, *first_mark, *first_send, *first_receive;
    int64_t until; /* ns: all rows of later windows are later */
};

/* Write slices and arrows. A send belongs to the call in which it lies or begins, a receive to the call in which it
   lies or ends. An end of an arrow outside of calls becomes an instant. So does a receive in a call that was entered
   before the send, for Perfetto draws an arrow from the slice that begins first. Calls that end after the window
   stay open until a later one. timeline_take says if memory was short. */
void timeline_write(struct timeline *t, const struct timeline_window *window);

/* Write n readings of counters. */
void timeline_values(struct timeline *t, const struct timeline_value *values, int64_t n);

/* Write n measures. */
void timeline_measures(struct timeline *t, const struct timeline_measure *measures, int64_t n);

/* Write n events of the program. */
void timeline_notes(struct timeline *t, const struct timeline_note *notes, int64_t n);

#endif
