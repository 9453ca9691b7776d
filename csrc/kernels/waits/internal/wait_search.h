/* State of the search for wait states, for all its files. */
#ifndef WAIT_SEARCH_H
#define WAIT_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "rows/inline/min_max.h"
#include "waits/wait_candidates.h"

/* A call, and the candidate that held it longest. */
struct judged {
    int64_t enter, exit, inside, hidden;
    int64_t others; /* ns in other calls since the last failing poll */
    int32_t call, peer, tag;
    int32_t failed; /* a poll that failed, by what the trace says */
    uint8_t role;
    uint8_t known, held; /* there is a call; there is a candidate */
    struct wait_candidate by;
};

/* A run of failing polls: the time in them, the time between them that was not the program's, and the time in other
   MPI calls since the run before. */
struct poll {
    int64_t enter, exit, inside, hidden, others;
    int32_t call;
};

struct polls {
    struct poll *rows;
    int64_t n, room;
    int64_t others; /* since the last one */
};

struct key {
    int64_t complete, at;
};

struct lane {
    struct judged now, probe;
    struct polls tests, probes;
    int64_t probe_polls; /* of `probes`: those before the probe */
    struct key *heap;    /* candidates by completion, the earliest first */
    int64_t n_heap, heap_room;
    int64_t sent, sent_end;       /* of waits.sent: those of this window not met yet */
    struct wait_candidate *begun; /* sends that another call will complete, by time */
    int64_t n_begun, begun_room;
};

struct waits {
    int64_t n_lanes;
    const uint8_t *roles;
    int64_t most_polls;
    struct lane *lanes;
    struct wait_candidate *kept; /* what heaps refer to */
    int64_t n_kept, kept_room;
    int64_t *free_;
    int64_t n_free, free_room;
    struct wait_candidate *sent; /* of this window, by lane, then time */
    int64_t sent_room;
    struct wait_state *found;
    int64_t n_found, found_room;
    int failed;
};

/* Make room for one more row. Returns 0 if there is no memory: the search has failed, and the row must not be
   written. */
int waits_more(struct waits *w, void **rows, int64_t *room, int64_t n, size_t size);
#define MORE(w, rows, room, n) waits_more((w), (void **)&(rows), &(room), (n), sizeof *(rows))

/* Add a wait state that was found. Fills in its cause, lane and kind from the candidate. */
void waits_emit(struct waits *w, const struct wait_candidate *by, struct wait_state state);

/* Let a candidate hold a call, if it held it longer than the one before. */
void waits_hold(struct judged *call, struct wait_candidate c);

#endif
