/* Messages and collectives that are not recorded, counted by channel or communicator. So those that are recorded before
 * and after still find their partners: sends and receives of a channel are matched in the order of posting, and the
 * n-th collective of a communicator is the n-th of each member.
 *
 * Context: no lock. The caller owns what it passes: a thread its own counts, the writer of the file (between
 * store_begin and store_end) those of a dropped buffer. Times are ticks. */
#ifndef SKIPPED_H
#define SKIPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/store.h"

/* Messages of a channel that were posted from `first` to `last`, no recorded one among them. */
struct skipped_run {
    uint64_t first, last, count;
    uint32_t comm;
    int32_t peer, tag;
    uint16_t what;
};

struct skipped {
    struct skipped_run *runs;
    size_t n, room;
};

/* Receives that were posted and may still be recorded: their times of posting, in order. */
struct open_receives {
    uint64_t *posted;
    size_t n, room;
};

/* Add a time of posting behind the others. Returns false if there is no memory. */
bool open_receives_add(struct open_receives *open, uint64_t posted);

/* True if a receive was posted in (from, to]; `open` is sorted. */
bool open_receives_between(const struct open_receives *open, uint64_t from, uint64_t to);

/* Sort by time. */
void open_receives_sort(struct open_receives *open);

/* Remove the times of `done`; both are sorted. */
void open_receives_without(struct open_receives *open, const struct open_receives *done);

/* Count the messages that the row of a call, or of a request, stands for, if any. Returns false if there is no memory.
 */
bool skipped_call(struct skipped *s, const struct file_call *row);
bool skipped_request(struct skipped *s, const struct file_request *row);

/* True if an operation of kind `what` is recorded, or left out, where it is posted; receives are where they complete.
 */
bool skipped_where_posted(uint16_t what);

/* Count the messages of all rows of a buffer. Returns false if there is no memory. */
bool skipped_rows(struct skipped *s, const struct file_call *calls, size_t n_calls, const struct file_request *requests,
                  size_t n_requests);

/* Count the messages of a buffer and join them to runs. Receives that the buffer has posted but not completed are open;
 * they are added, in order, to those that earlier buffers left open (`left_open`, or NULL). Returns false if there is
 * no memory. */
bool skipped_buffer(struct skipped *s, const struct file_call *calls, size_t n_calls,
                    const struct file_request *requests, size_t n_requests, struct open_receives *left_open);

/* Join counted messages to runs where that is certain: no receive of `open` was posted between the messages of a run.
 * Messages posted before `since` stay alone, for recorded ones may have been posted between them. */
void skipped_join(struct skipped *s, const struct open_receives *open, uint64_t since);

/* Append rows to the file and forget them; `mark` is added to their `what`. Returns 0 or errno.
 * Context: between store_begin and store_end. */
int skipped_write(struct skipped *s, struct store *store, uint32_t thread, uint16_t mark);

#endif
