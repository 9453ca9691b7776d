/* Keeps the receives and nonblocking collectives that a thread of an imported trace has begun and not completed yet. */
#ifndef PRVREQUESTS_H
#define PRVREQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "records.h"

/* receives: a heap by `completed`, which holds the physical receive. collectives: from `first` on, the oldest first. */
struct open_requests {
    struct trace_request *receives, *collectives;
    int64_t receive_count, receive_room;
    int64_t first, collective_count, collective_room;
};

/* Add a receive, or a collective. Returns false if there is no memory. */
bool open_receive(struct open_requests *open, const struct trace_request *row);
bool open_collective(struct open_requests *open, const struct trace_request *row);

/* Remove the receive whose data arrived first, or the oldest collective, and copy it to `row`. Returns false if
   there is none, or if the data of the receive arrived after `time` (ns). */
bool close_receive(struct open_requests *open, int64_t time, struct trace_request *row);
bool close_oldest_collective(struct open_requests *open, struct trace_request *row);

/* Free the memory of the requests. */
void open_requests_free(struct open_requests *open);

#endif
