#ifndef SYNCS_H
#define SYNCS_H
#include <stdint.h>

/* See SYNC of analyzer.waits.synchronization. */
enum sync_what { SYNC_MESSAGE, SYNC_MEMBER, SYNC_QUESTION };

struct sync_row {
    int64_t key;
    int64_t time, other_time;
    int32_t lane, other;
    int32_t comm;
    int32_t what; /* enum sync_what */
};

struct syncs;

/* NULL: no memory. `starts` of each lane stays the caller's. */
struct syncs *syncs_new(int64_t lanes, const int64_t *starts);
void syncs_free(struct syncs *syncs);

/* Takes rows in order of their keys and answers the questions among them; -1: no memory. */
int64_t syncs_feed(struct syncs *syncs, void *rows, int64_t n);

#endif
