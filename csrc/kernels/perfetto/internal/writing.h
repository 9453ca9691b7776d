#ifndef WRITING_H
#define WRITING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfetto/timeline.h"
#include "records.h"

/* A slice that begins, or an instant. */
struct slice {
    int64_t time;
    int kind;                      /* NAME_OF_CALL, NAME_OF_REGION */
    int64_t name;                  /* its number */
    const struct trace_call *call; /* call whose details are written; NULL: none */
    int64_t place;
};

/* The functions by which a format writes its parts. */
struct format {
    void (*begin)(struct timeline *t);
    void (*end)(struct timeline *t);
    void (*name)(struct timeline *t, int kind, int64_t number, const char *text, int64_t length);
    void (*lane)(struct timeline *t, int64_t lane, const char *rank, const char *thread);
    void (*node)(struct timeline *t, int64_t lane, const char *name);
    void (*counter)(struct timeline *t, int64_t track, int64_t lane, const char *name);
    void (*open)(struct timeline *t, int64_t lane, const struct slice *slice, const struct timeline_flow *flows,
                 int64_t n);
    void (*close)(struct timeline *t, int64_t lane, int64_t time, const struct timeline_flow *flows, int64_t n);
    void (*instant)(struct timeline *t, int64_t lane, const struct timeline_flow *flow);
    void (*value)(struct timeline *t, const struct timeline_value *value);
    void (*measure)(struct timeline *t, const struct timeline_measure *measure);
    void (*note)(struct timeline *t, const struct timeline_note *note);
};

extern const struct format perfetto_format, chrome_format;

struct lane {
    int64_t begin, end; /* of the call that is open */
    int64_t process;    /* its rank's first lane */
    bool open;
};

struct text {
    char *bytes;
    int64_t length;
};

struct timeline {
    const struct format *format;
    char *out;
    int64_t used, room;
    bool failed, said;      /* no memory; something was written already */
    int64_t threads, lanes; /* lanes: threads and nodes */
    struct lane *lane;
    struct text *names[TIMELINE_NAMES]; /* of Chrome, which repeats them */
    struct text *counters;
    int64_t *counter_lane;
    int64_t n_names[TIMELINE_NAMES], n_counters;
};

/* Return where to write up to n more bytes; NULL: no memory. */
char *timeline_room(struct timeline *t, int64_t n);

/* Keep a copy of a text as number n of a list. */
void timeline_keep(struct timeline *t, struct text **list, int64_t n, const char *text, int64_t length);

#endif
