/* Merging the lanes' records into one order of time: a heap of runs that copies as long as one run leads. */
#include "lane.h"
#include <stdlib.h>
#include <string.h>

struct run {
    int64_t time;
    int64_t number;
    const char *next;
    const char *end;
};

static int before(const struct run *a, const struct run *b)
{
    return a->time < b->time || (a->time == b->time && a->number < b->number);
}

static void sink(struct run *heap, int64_t n, int64_t i)
{
    struct run moved = heap[i];
    for (;;) {
        int64_t child = 2 * i + 1;
        if (child >= n) break;
        if (child + 1 < n && before(&heap[child + 1], &heap[child])) child++;
        if (!before(&heap[child], &moved)) break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = moved;
}

static int64_t time_of(const char *record)
{
    int64_t time;
    memcpy(&time, record, sizeof time);
    return time;
}

/* How many bytes of the leading run come before every other run. */
static int64_t lead(const struct run *first, const struct run *second, int64_t record_bytes)
{
    const char *p = first->next;
    do p += record_bytes;
    while (p < first->end &&
           (time_of(p) < second->time || (time_of(p) == second->time && first->number < second->number)));
    return p - first->next;
}

int64_t lane_merge(const void *records, const int64_t *offsets, int64_t runs, int64_t record_bytes, void *out)
{
    struct run *heap = malloc((size_t)(runs ? runs : 1) * sizeof *heap);
    if (!heap) return -1;
    int64_t n = 0;
    for (int64_t r = 0; r < runs; r++) {
        const char *next = (const char *)records + offsets[r] * record_bytes;
        const char *end = (const char *)records + offsets[r + 1] * record_bytes;
        if (next < end) heap[n++] = (struct run){time_of(next), r, next, end};
    }
    for (int64_t i = n / 2; i-- > 0;) sink(heap, n, i);
    char *to = out;
    while (n > 0) {
        int64_t bytes = heap[0].end - heap[0].next;
        if (n > 1) {
            const struct run *second = n > 2 && before(&heap[2], &heap[1]) ? &heap[2] : &heap[1];
            bytes = lead(&heap[0], second, record_bytes);
        }
        memcpy(to, heap[0].next, (size_t)bytes);
        to += bytes;
        heap[0].next += bytes;
        if (heap[0].next == heap[0].end)
            heap[0] = heap[--n];
        else
            heap[0].time = time_of(heap[0].next);
        if (n > 1) sink(heap, n, 0);
    }
    free(heap);
    return (to - (char *)out) / record_bytes;
}
