/* Messages and collectives that are not recorded, counted by channel or communicator: those that are recorded before
 * and after still find their partners, for sends and receives of a channel are matched in the order of posting, and
 * the n-th collective of a communicator is the n-th of each member. */
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

bool open_receives_add(struct open_receives *open, uint64_t posted);
bool open_receives_between(const struct open_receives *open, uint64_t from, uint64_t to); /* after from, up to to */
void open_receives_sort(struct open_receives *open);
void open_receives_without(struct open_receives *open, const struct open_receives *done); /* both sorted */

/* Count the messages that the row of a call, of a request stands for, if any. False: no memory. */
bool skipped_call(struct skipped *s, const struct file_call *row);
bool skipped_request(struct skipped *s, const struct file_request *row);

/* Whether it is recorded, or not, where it is posted: receives are where they complete. */
bool skipped_where_posted(uint16_t what);

/* The same for all rows of a buffer. */
bool skipped_rows(struct skipped *s, const struct file_call *calls, size_t n_calls, const struct file_request *requests,
                  size_t n_requests);

/* The same, made runs of: what the buffer has posted but not completed is open, and added to what earlier buffers left
 * open (or NULL), in order. */
bool skipped_buffer(struct skipped *s, const struct file_call *calls, size_t n_calls,
                    const struct file_request *requests, size_t n_requests, struct open_receives *left_open);

/* Make runs of what is counted as far as certain: between their messages none of `open` was posted, and those posted
 * before `since` stay alone, for recorded ones may have been posted between them. */
void skipped_join(struct skipped *s, const struct open_receives *open, uint64_t since);

/* Append rows to the file and forget them; `mark` is added to their `what`. 0 or errno. */
int skipped_write(struct skipped *s, struct store *store, uint32_t thread, uint16_t mark);

#endif
