/* What a thread of an imported trace has begun and not completed yet: receives, and nonblocking collectives. */
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

/* False: no memory. */
bool open_receive(struct open_requests *open, const struct trace_request *row);
bool open_collective(struct open_requests *open, const struct trace_request *row);

/* The receive whose data were there first, if that was by `time`. */
bool close_receive(struct open_requests *open, int64_t time, struct trace_request *row);
bool close_oldest_collective(struct open_requests *open, struct trace_request *row);

void open_requests_free(struct open_requests *open);

#endif
