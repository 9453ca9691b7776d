#ifndef WAIT_CANDIDATES_H
#define WAIT_CANDIDATES_H
#include <stdint.h>

/* Kinds of candidates. The negative ones are not wait states yet; the others are `WaitKind` of analyzer.waits.kinds. */
enum waits_kind {
    WAITS_SENT =
        -2, /* `complete` is the entry of the call that sent; the call that completed the send is not known yet */
    WAITS_PROBED = -1, /* `complete` lies in the call that posted the receive: a probe may have waited for it before */
    WAITS_LATE_SENDER = 0,
    WAITS_WRONG_ORDER = 1,
    WAITS_LATE_RECEIVER = 2,
    WAITS_LATE_POST = 9 /* this and later ones: only calls on windows wait so */
};

/* Properties of a procedure, as bits. */
enum waits_role {
    WAITS_SENDS = 1,     /* sends, and returns when the message has gone or is buffered */
    WAITS_BUFFERS = 2,   /* begins a send that waits for no receiver */
    WAITS_PROBES = 4,    /* says which message the receive after it will get */
    WAITS_MATCHES = 8,   /* finds a message and posts its receive at once */
    WAITS_POLLS = 16,    /* returns at once if nothing is there */
    WAITS_FINISHES = 32, /* waits for what was begun */
    WAITS_ON_WINDOW = 64 /* is a call on a window */
};

/* A possible wait: the call of `lane` that returns at `complete` could not return before `until`, when `cause` came.
   Times are ns. */
struct wait_candidate {
    int64_t complete, until;
    int64_t first;  /* N to 1: when the first member came. Late sender: when the last message was received of those
                       that had been sent before this one */
    int64_t posted; /* when the operation was begun; a poll before it did not wait for it */
    int32_t lane, cause;
    int32_t kind;
    int32_t peer, tag; /* of messages: the other rank */
    int32_t reserved;
};

/* A wait state: see WAIT of analyzer.waits.kinds. */
struct wait_state {
    int64_t enter, end, exit, cause_enter;
    int32_t lane, cause, call, kind;
    int64_t first;
    int64_t overlap;
    int64_t polled;
};

/* Write the candidates of messages (struct trace_message) in order of sending, for the lanes in [low, high).
   first_lane: (ranks + 1), the first lane of each rank. probes: 1 if some calls probe. received: (lanes, 3), 0 at
   first, kept from block to block. out: room for 3 * n. Returns the number of candidates. */
int64_t waits_candidates(const void *messages, int64_t n, const int64_t *first_lane, int64_t low, int64_t high,
                         int probes, int64_t *received, struct wait_candidate *out);

#endif
