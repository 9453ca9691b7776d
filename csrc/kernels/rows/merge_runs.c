/* Merges thousands of runs. A heap of runs costs more for each record than counting does. So records go to buckets
   of equal time, with few records in each, and are sorted there. */
#include "rows/internal/merge_runs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rows/inline/time_order.h"

enum { IN_A_BUCKET = 4, FEW = 32, USUAL_BYTES = 32 };

/* Work space to sort a bucket with many records. */
struct room {
    struct timed_row *order; /* and room for half as many behind them */
    char *records;
    int64_t n;
};

static inline int64_t run_record_time(const char *record)
{
    int64_t time;
    memcpy(&time, record, sizeof time);
    return time;
}

/* Return the time (ns) between the first and the last record, and write the first time to `first`. In a damaged file
   runs may be out of order. */
static inline uint64_t span(const char *begin, const char *end, int64_t bytes, int64_t *first)
{
    int64_t last = INT64_MIN;
    *first = INT64_MAX;
    for (const char *p = begin; p < end; p += bytes) {
        int64_t time = run_record_time(p);
        *first = time < *first ? time : *first;
        last = time > last ? time : last;
    }
    return (uint64_t)last - (uint64_t)*first;
}

/* Sort a few records by time; records of the same time keep their order. */
static inline void insertion_sort(char *records, int64_t n, int64_t bytes)
{
    char moved[USUAL_BYTES];
    for (int64_t k = 1; k < n; k++) {
        char *at = records + k * bytes;
        int64_t time = run_record_time(at);
        if (run_record_time(at - bytes) <= time) continue;
        memcpy(moved, at, (size_t)bytes);
        do {
            memcpy(at, at - bytes, (size_t)bytes);
            at -= bytes;
        } while (at > records && run_record_time(at - bytes) > time);
        memcpy(at, moved, (size_t)bytes);
    }
}

static bool make_sort_room(struct room *room, int64_t n, int64_t bytes)
{
    if (n <= room->n) return true;
    free(room->order);
    free(room->records);
    room->order = malloc((size_t)(n + n / 2 + 1) * sizeof *room->order);
    room->records = malloc((size_t)(n * bytes));
    room->n = room->order && room->records ? n : 0;
    return room->n;
}

static bool sort_runs(char *records, int64_t n, int64_t bytes, struct room *room)
{
    if (!make_sort_room(room, n, bytes)) return false;
    for (int64_t k = 0; k < n; k++) room->order[k] = (struct timed_row){run_record_time(records + k * bytes), k};
    time_order(room->order, n, room->order + n);
    for (int64_t k = 0; k < n; k++)
        memcpy(room->records + k * bytes, records + room->order[k].row * bytes, (size_t)bytes);
    memcpy(records, room->records, (size_t)(n * bytes));
    return true;
}

/* Inline, so that the compiler makes a version for each constant number of bytes. */
static inline bool to_buckets(const char *records, const int64_t *offsets, int64_t runs, int64_t bytes, char *out)
{
    const char *begin = records + offsets[0] * bytes, *end = records + offsets[runs] * bytes;
    int64_t n = offsets[runs] - offsets[0], first;
    uint64_t length = span(begin, end, bytes, &first);
    int shift = 0;
    while (length >> shift > (uint64_t)n / IN_A_BUCKET + 1) shift++;
    int64_t buckets = (int64_t)(length >> shift) + 1;
    int64_t *ends = calloc((size_t)buckets + 1, sizeof *ends);
    if (!ends) return false;
    for (const char *p = begin; p < end; p += bytes)
        ends[(((uint64_t)run_record_time(p) - (uint64_t)first) >> shift) + 1]++;
    for (int64_t b = 0; b < buckets; b++) ends[b + 1] += ends[b];
    for (const char *p = begin; p < end; p += bytes) {
        int64_t *to = &ends[((uint64_t)run_record_time(p) - (uint64_t)first) >> shift];
        memcpy(out + (*to)++ * bytes, p, (size_t)bytes);
    }
    struct room room = {0};
    bool good = true;
    for (int64_t b = 0, from = 0; good && b < buckets; from = ends[b++]) {
        if (ends[b] - from < 2) continue;
        if (ends[b] - from <= FEW && bytes <= USUAL_BYTES)
            insertion_sort(out + from * bytes, ends[b] - from, bytes);
        else
            good = sort_runs(out + from * bytes, ends[b] - from, bytes, &room);
    }
    free(room.order);
    free(room.records);
    free(ends);
    return good;
}

int64_t merge_many_runs(const char *records, const int64_t *offsets, int64_t runs, int64_t record_bytes, char *out)
{
    bool good = record_bytes == USUAL_BYTES ? to_buckets(records, offsets, runs, USUAL_BYTES, out)
                                            : to_buckets(records, offsets, runs, record_bytes, out);
    return good ? offsets[runs] - offsets[0] : -1;
}
