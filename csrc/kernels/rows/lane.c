/* Merging the lanes' records into one order of time: a heap of runs that copies as long as one run leads. */
#include "rows/lane.h"

#include <stdlib.h>
#include <string.h>

#include "rows/internal/merge_runs.h"

enum { WORD = 8, LONG_COPY = 128, MANY_RUNS = 64 };

struct run {
    int64_t time;
    int64_t number;
    const char *next;
    const char *end;
};

static int run_is_before(const struct run *a, const struct run *b)
{
    return a->time < b->time || (a->time == b->time && a->number < b->number);
}

static void sink_run(struct run *heap, int64_t n, int64_t i)
{
    struct run moved = heap[i];
    for (;;) {
        int64_t child = 2 * i + 1;
        if (child >= n) break;
        if (child + 1 < n && run_is_before(&heap[child + 1], &heap[child])) child++;
        if (!run_is_before(&heap[child], &moved)) break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = moved;
}

static int64_t lane_record_time(const char *record)
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
    while (p < first->end && (lane_record_time(p) < second->time ||
                              (lane_record_time(p) == second->time && first->number < second->number)));
    return p - first->next;
}

/* Records are some eight bytes each, and lanes take turns: a call for each would cost more than copying it. */
static inline void copy_bytes(char *to, const char *from, int64_t bytes)
{
    if (bytes > LONG_COPY || bytes % WORD) {
        memcpy(to, from, (size_t)bytes);
        return;
    }
    for (int64_t at = 0; at < bytes; at += WORD) memcpy(to + at, from + at, WORD);
}

/* Two runs, as at last of any number; what they have at the same time comes first from `a`. */
static char *merge_two(const struct run *a, const struct run *b, int64_t record_bytes, char *to)
{
    const char *of_a = a->next, *of_b = b->next;
    while (of_a < a->end && of_b < b->end) {
        const char **next = lane_record_time(of_b) < lane_record_time(of_a) ? &of_b : &of_a;
        copy_bytes(to, *next, record_bytes);
        *next += record_bytes;
        to += record_bytes;
    }
    memcpy(to, of_a, (size_t)(a->end - of_a));
    to += a->end - of_a;
    memcpy(to, of_b, (size_t)(b->end - of_b));
    return to + (b->end - of_b);
}

int64_t lane_merge(const void *records, const int64_t *offsets, int64_t runs, int64_t record_bytes, void *out)
{
    if (runs >= MANY_RUNS) return merge_many_runs(records, offsets, runs, record_bytes, out);
    struct run *heap = malloc((size_t)(runs ? runs : 1) * sizeof *heap);
    if (!heap) return -1;
    int64_t n = 0;
    for (int64_t r = 0; r < runs; r++) {
        const char *next = (const char *)records + offsets[r] * record_bytes;
        const char *end = (const char *)records + offsets[r + 1] * record_bytes;
        if (next < end) heap[n++] = (struct run){lane_record_time(next), r, next, end};
    }
    for (int64_t i = n / 2; i-- > 0;) sink_run(heap, n, i);
    char *to = out;
    while (n > 2) {
        const struct run *second = run_is_before(&heap[2], &heap[1]) ? &heap[2] : &heap[1];
        int64_t bytes = lead(&heap[0], second, record_bytes);
        copy_bytes(to, heap[0].next, bytes);
        to += bytes;
        heap[0].next += bytes;
        if (heap[0].next == heap[0].end)
            heap[0] = heap[--n];
        else
            heap[0].time = lane_record_time(heap[0].next);
        sink_run(heap, n, 0);
    }
    if (n == 1) {
        memcpy(to, heap[0].next, (size_t)(heap[0].end - heap[0].next));
        to += heap[0].end - heap[0].next;
    } else if (n == 2) {
        int64_t first = heap[1].number < heap[0].number;
        to = merge_two(&heap[first], &heap[!first], record_bytes, to);
    }
    free(heap);
    return (to - (char *)out) / record_bytes;
}
