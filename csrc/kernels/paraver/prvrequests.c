#include "paraver/internal/prvrequests.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"

bool open_receive(struct open_requests *open, const struct trace_request *row)
{
    bool is_full = open->receive_count == open->receive_room;
    if (is_full && !ARRAY_GROW(open->receives, open->receive_room, 16)) return false;
    struct trace_request *heap = open->receives;
    int64_t i = open->receive_count++;
    for (; i && heap[(i - 1) / 2].completed > row->completed; i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
    heap[i] = *row;
    return true;
}

static void sift_down_request(struct trace_request *heap, int64_t n)
{
    for (int64_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && heap[child + 1].completed < heap[child].completed) child++;
        if (heap[i].completed <= heap[child].completed) return;
        struct trace_request swap = heap[i];
        heap[i] = heap[child];
        heap[child] = swap;
    }
}

bool close_receive(struct open_requests *open, int64_t time, struct trace_request *row)
{
    if (!open->receive_count || open->receives[0].completed > time) return false;
    *row = open->receives[0];
    open->receives[0] = open->receives[--open->receive_count];
    sift_down_request(open->receives, open->receive_count);
    return true;
}

bool open_collective(struct open_requests *open, const struct trace_request *row)
{
    if (open->first > open->collective_room / 2) {
        open->collective_count -= open->first;
        memmove(open->collectives, open->collectives + open->first,
                (size_t)open->collective_count * sizeof *open->collectives);
        open->first = 0;
    }
    bool is_full = open->collective_count == open->collective_room;
    if (is_full && !ARRAY_GROW(open->collectives, open->collective_room, 16)) return false;
    open->collectives[open->collective_count++] = *row;
    return true;
}

bool close_oldest_collective(struct open_requests *open, struct trace_request *row)
{
    if (open->first == open->collective_count) return false;
    *row = open->collectives[open->first++];
    return true;
}

void open_requests_free(struct open_requests *open)
{
    free(open->receives);
    free(open->collectives);
}
