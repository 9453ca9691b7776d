/* Checks the time stamps of rows. Every row that is read is checked, so a good row costs only a few comparisons. */
#include "rows/stamps.h"

#include <stdbool.h>

#include "records.h"

_Static_assert(STAMP_FAULTS == 6, "struct stamps has a number for each");

/* The stamps of one row (ticks). `from` is the earliest time that the row names; no row after it may begin before
   `settled`. */
struct stamped {
    uint64_t from, begin, end, settled;
    bool reversed, inside_long, no_call;
};

static void count(struct stamps *s, const struct stamped *row, int64_t number, int64_t n)
{
    s->faults[STAMP_BEFORE_START] += row->from < s->start || row->begin < s->start;
    s->faults[STAMP_AFTER_END] += row->begin > s->stop || row->end > s->stop;
    s->faults[STAMP_REVERSED] += row->reversed;
    s->faults[STAMP_BACKWARDS] += row->begin + s->slack < s->latest;
    s->faults[STAMP_INSIDE_LONG] += row->inside_long;
    s->faults[STAMP_NO_CALL] += row->no_call;
    if (s->first == n) s->first = number;
}

/* Check one row, without a jump if it is good. */
static inline void look_at_stamp(struct stamps *s, struct stamped row, int64_t number, int64_t n)
{
    bool bad = (row.from < s->start) | (row.begin < s->start) | (row.begin > s->stop) | (row.end > s->stop) |
               (row.begin + s->slack < s->latest) | row.reversed | row.inside_long | row.no_call;
    if (__builtin_expect(bad, 0)) count(s, &row, number, n);
    s->latest = row.settled;
}

void stamps_of_calls(struct stamps *stamps, const void *rows, int64_t n)
{
    const struct file_call *r = rows;
    stamps->first = n;
    for (int64_t i = 0; i < n; i++) {
        struct stamped row = {r[i].enter, r[i].enter, r[i].exit, r[i].exit, r[i].exit + stamps->slack < r[i].enter,
                              false,      false};
        look_at_stamp(stamps, row, i, n);
    }
}

/* The key of a request is its completion; of a request that was only started, its start. */
void stamps_of_requests(struct stamps *stamps, const void *rows, int64_t n)
{
    const struct file_request *r = rows;
    stamps->first = n;
    for (int64_t i = 0; i < n; i++) {
        uint64_t key = r[i].completed ? r[i].completed : r[i].posted;
        struct stamped row = {r[i].posted, key, key, key, key + stamps->slack < r[i].posted, false, false};
        look_at_stamp(stamps, row, i, n);
    }
}

void stamps_of_polls(struct stamps *stamps, const void *rows, int64_t n)
{
    const struct file_poll *r = rows;
    stamps->first = n;
    for (int64_t i = 0; i < n; i++) {
        bool reversed = r[i].exit + stamps->slack < r[i].enter;
        bool inside_long = r[i].exit > r[i].enter && r[i].inside > r[i].exit - r[i].enter;
        struct stamped row = {r[i].enter, r[i].enter, r[i].exit, r[i].exit, reversed, inside_long, !r[i].count};
        look_at_stamp(stamps, row, i, n);
    }
}

void stamps_of_events(struct stamps *stamps, const void *rows, int64_t n)
{
    const struct file_event *r = rows;
    stamps->first = n;
    for (int64_t i = 0; i < n; i++)
        look_at_stamp(stamps, (struct stamped){r[i].time, r[i].time, r[i].time, r[i].time, false, false, false}, i, n);
}

void stamps_of_accesses(struct stamps *stamps, const void *rows, int64_t n)
{
    const struct file_access *r = rows;
    stamps->first = n;
    for (int64_t i = 0; i < n; i++)
        look_at_stamp(stamps, (struct stamped){r[i].enter, r[i].enter, r[i].enter, r[i].enter, false, false, false}, i,
                      n);
}

/* Sums of calls by procedure overlap, so only their begins are in order. If bytes were received in another buffer
   than the call that posted them, there is a row without calls. */
void stamps_of_summaries(struct stamps *stamps, const void *rows, int64_t n)
{
    const struct file_summary *r = rows;
    stamps->first = n;
    for (int64_t i = 0; i < n; i++) {
        uint64_t end = r[i].count ? r[i].exit : r[i].enter;
        bool reversed = end + stamps->slack < r[i].enter;
        bool inside_long = end > r[i].enter && r[i].inside > end - r[i].enter;
        look_at_stamp(stamps, (struct stamped){r[i].enter, r[i].enter, end, r[i].enter, reversed, inside_long, false},
                      i, n);
    }
}
