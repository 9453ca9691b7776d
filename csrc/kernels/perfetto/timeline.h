#ifndef TIMELINE_H
#define TIMELINE_H
#include <stdint.h>

/* A trace as Perfetto or Chrome's tracing page shows it: a track for each thread, with a slice for each call and each
   visit of a region, arrows for messages, instants for events of the program, and a track for each counter. */
struct timeline;

enum timeline_format { TIMELINE_PERFETTO, TIMELINE_CHROME };

/* What names are of. */
enum timeline_name {
    NAME_OF_CALL,
    NAME_OF_REGION,
    NAME_OF_EVENT,
    NAME_OF_COMM,
    NAME_OF_PLACE,
    NAME_OF_VALUE,
    TIMELINE_NAMES
};

/* For so many threads ("lanes", counted through all ranks from 0) and nodes (the lanes after those). NULL: no memory.
 */
struct timeline *timeline_new(int format, int64_t threads, int64_t nodes);
void timeline_free(struct timeline *t);

/* What was written since the last time: the bytes stay until the next call of any function of this timeline. -1: there
   was no memory for them. */
int64_t timeline_take(struct timeline *t, const char **bytes);

/* What comes before all else, and after it. */
void timeline_begin(struct timeline *t);
void timeline_end(struct timeline *t);

/* The next of the names of a kind, the first is number 0. `text`: UTF-8; for Chrome as JSON has it, with quotes. */
void timeline_name(struct timeline *t, int kind, const char *text, int64_t length);

/* A thread: of which process, and whether it is the first one of that. Texts as above. */
void timeline_lane(struct timeline *t, int64_t lane, int64_t first_lane, const char *rank, const char *thread);

/* A node. Text as above. */
void timeline_node(struct timeline *t, int64_t lane, const char *name);

/* Track number `track`, from 0, of a counter of this thread or node. Text as above. */
void timeline_counter(struct timeline *t, int64_t track, int64_t lane, const char *name);

/* A thread enters region `region`, or leaves the innermost one (-1). */
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

/* A number that need not be whole. */
struct timeline_measure {
    int64_t time, track;
    double value;
};

/* An event of the program: names are numbers of NAME_OF_EVENT and NAME_OF_VALUE (-1: the value has none). */
struct timeline_note {
    int64_t time, lane, event, value, name;
};

/* What all threads did in a window, one lane's rows after the other, in order of time. `first`: of each lane its first
   row; one more than there are threads. */
struct timeline_window {
    const void *calls;     /* struct trace_call */
    const int64_t *places; /* of each call; 0: not known. NULL: of no call */
    const struct timeline_mark *marks;
    const struct timeline_flow *sends;
    struct timeline_flow *receives; /* lost */
    const int64_t *first_call, *first_mark, *first_send, *first_receive;
    int64_t until; /* all that comes later is later than this */
};

/* Writes slices and arrows. A send belongs to the call in which it lies or begins, a receive to that in which it lies
   or ends. What lies in no call becomes an instant, and so does a receive in a call that was entered before the send:
   Perfetto takes an arrow to be from the slice that begins first. Calls that end after the window stay open until a
   later one. */
void timeline_write(struct timeline *t, const struct timeline_window *window);

/* Writes n readings of counters. */
void timeline_values(struct timeline *t, const struct timeline_value *values, int64_t n);

/* Writes n measures. */
void timeline_measures(struct timeline *t, const struct timeline_measure *measures, int64_t n);

/* Writes n events of the program. */
void timeline_notes(struct timeline *t, const struct timeline_note *notes, int64_t n);

#endif
