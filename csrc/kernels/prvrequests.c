#include "include/prvrequests.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(struct trace_request **rows, int64_t count, int64_t *room)
{
    if (count < *room) return true;
    int64_t more = *room ? 2 * *room : 16;
    struct trace_request *larger = realloc(*rows, (size_t)more * sizeof *larger);
    if (!larger) return false;
    *rows = larger;
    *room = more;
    return true;
}

bool open_receive(struct open_requests *open, const struct trace_request *row)
{
    if (!make_room(&open->receives, open->receive_count, &open->receive_room)) return false;
    struct trace_request *heap = open->receives;
    int64_t i = open->receive_count++;
    for (; i && heap[(i - 1) / 2].completed > row->completed; i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
    heap[i] = *row;
    return true;
}

static void sift_down(struct trace_request *heap, int64_t n)
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
    sift_down(open->receives, open->receive_count);
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
    if (!make_room(&open->collectives, open->collective_count, &open->collective_room)) return false;
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
