#ifndef SYNCS_H
#define SYNCS_H
#include <stdint.h>

/* Kinds of rows: see SYNC of analyzer.waits.synchronization. */
enum sync_what { SYNC_MESSAGE, SYNC_MEMBER, SYNC_QUESTION };

struct sync_row {
    int64_t key;
    int64_t time, other_time;
    int32_t lane, other;
    int32_t comm;
    int32_t what; /* enum sync_what */
};

/* When lanes were last in step with each other. */
struct syncs;

/* Create the state of `lanes` lanes. starts: (lanes), ns; stays the caller's and must outlive the state. Returns
   NULL if there is no memory. */
struct syncs *syncs_new(int64_t lanes, const int64_t *starts);

/* Free the state. */
void syncs_free(struct syncs *syncs);

/* Take n rows (struct sync_row) in order of their keys, and write the answers into the questions among them. Returns
   -1 if there is no memory. */
int64_t syncs_feed(struct syncs *syncs, void *rows, int64_t n);

#endif
