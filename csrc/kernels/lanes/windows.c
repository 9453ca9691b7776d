/* Reads records of many threads in a window of time. With thousands of ranks that each did little in it, most of the
   time would else go into finding their rows. */
#include "lanes/windows.h"

#include <stdlib.h>

#include "lanes/inline/reader.h"
#include "records.h"
#include "rows/expand.h"
#include "rows/inline/ticks.h"

enum { BLOCK = 128 }; /* rows, about what a rank does in a window of many ranks */

/* The window that is read, and the place for its records. */
struct window {
    int64_t begin, end;
    int64_t calls, polls; /* number of rows that were read of the thread */
    struct lane_records *into;
    bool no_memory;
};

typedef int64_t expand(const struct reader *reader, const struct windowed_lane *lane, struct window *w);

/* Return the earliest time (ns) of which rows are needed: the state at the begin of a window follows from the row
   just before it. */
static int64_t from(const struct reader *reader, int64_t begin)
{
    return begin - 1 - reader->of->lane->overhead;
}

/* Find the row before the first row of a window that begins at `begin`; at least 0. */
static bool find_first_row(struct reader *reader, enum reader_table table, int64_t begin, int64_t *row, bool *no_memory)
{
    int64_t low = 0, high = reader_count(reader, table), time;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (!reader_time(reader, table, middle, &time, no_memory)) return false;
        if (time < from(reader, begin))
            low = middle + 1;
        else
            high = middle;
    }
    *row = low ? low - 1 : 0;
    return true;
}

static const struct window_place *find_place(struct reader *reader, struct windowed_lane *lane, struct window *w)
{
    struct window_place *places = lane->places, found = {.time = w->begin};
    for (int i = 0; i < 2; i++)
        if (places[i].time == w->begin) return &places[i];
    if (!find_first_row(reader, READER_CALLS, w->begin, &found.calls, &w->no_memory) ||
        !find_first_row(reader, READER_POLLS, w->begin, &found.polls, &w->no_memory))
        return NULL;
    places[0] = found;
    return places;
}

/* Read the rows of a window from number `first` on, and one behind them. next: receives the first row of the next
   window. */
static bool read_window_rows(struct reader *reader, enum reader_table table, int64_t first, struct window *w,
                             int64_t *n, int64_t *next)
{
    if (!reader_read(reader, table, first, w->end, n, &w->no_memory)) return false;
    int64_t before = reader_cut(reader, table, 0, *n, from(reader, w->end));
    *next = first + (before ? before - 1 : 0);
    *n += first + *n < reader_count(reader, table);
    return true;
}

static bool read_window(struct reader *reader, struct windowed_lane *lane, struct window *w)
{
    const struct window_place *place = find_place(reader, lane, w);
    struct window_place next = {.time = w->end};
    if (!place || !read_window_rows(reader, READER_CALLS, place->calls, w, &w->calls, &next.calls) ||
        !read_window_rows(reader, READER_POLLS, place->polls, w, &w->polls, &next.polls))
        return false;
    lane->places[place == lane->places] = next;
    return true;
}

/* Make room for n more records; NULL: no memory. */
static void *more(struct window *w, int64_t n, size_t record_bytes)
{
    struct lane_records *into = w->into;
    int64_t needed = into->used + n * (int64_t)record_bytes;
    if (needed > into->room) {
        int64_t room = needed + needed / 2;
        char *bytes = realloc(into->bytes, (size_t)room);
        w->no_memory = !bytes;
        if (!bytes) return NULL;
        into->bytes = bytes;
        into->room = room;
    }
    return into->bytes + into->used;
}

/* Return the number of flushes that end before a time; flushes are disjoint and in order. */
static int64_t ended_before(const struct trace_flush *flushes, int64_t n, int64_t time)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (flushes[middle].end < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t put_states(const struct reader *reader, const struct windowed_lane *lane, struct window *w)
{
    (void)lane;
    const struct stored_lane *of = reader->of;
    const struct trace_flush *flushes = of->flushes;
    int64_t first = ended_before(flushes, of->n_flushes, from(reader, w->begin)), flushed = of->n_flushes - first;
    struct trace_state *out = more(w, 3 * (w->calls + w->polls + flushed) + 3, sizeof *out);
    if (!out) return -1;
    int64_t found = expand_states(of->lane, reader->rows[READER_CALLS], w->calls, reader->rows[READER_POLLS], w->polls,
                                  flushes + first, flushed, w->begin, w->end, out);
    w->into->used += found * (int64_t)sizeof *out;
    return found;
}

static int64_t events_before(const struct lane *lane, const struct file_event *events, int64_t n, int64_t time)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (lane_ns(lane, events[middle].time) < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t put_events(const struct reader *reader, const struct windowed_lane *lane, struct window *w)
{
    const struct lane *of = reader->of->lane;
    const struct file_event *events = lane->events;
    int64_t first = events_before(of, events, lane->n_events, w->begin);
    int64_t n = events_before(of, events, lane->n_events, w->end) - first;
    struct trace_event *out = more(w, 6 * w->calls + 2 * w->polls + n + 2, sizeof *out);
    if (!out) return -1;
    int64_t found = expand_events(of, reader->rows[READER_CALLS], w->calls, reader->rows[READER_POLLS], w->polls,
                                  events + first, n, NULL, 0, w->begin, w->end, out);
    w->into->used += found * (int64_t)sizeof *out;
    return found;
}

static int64_t each_windowed_lane(const struct stored_lane *lanes, struct windowed_lane *windowed, int64_t n,
                                  struct window w, int64_t *counts, expand *put)
{
    struct reader reader = {.fd = -1, .block = BLOCK};
    int64_t k = 0;
    w.into->used = 0;
    for (bool good = true; good && k < n; k += good) {
        good = reader_open(&reader, &lanes[k]) && read_window(&reader, &windowed[k], &w) &&
               (counts[k] = put(&reader, &windowed[k], &w)) >= 0;
        reader_close(&reader);
    }
    reader_free(&reader);
    return w.no_memory ? -1 : k;
}

int64_t window_states(const struct stored_lane *lanes, struct windowed_lane *windowed, int64_t n, int64_t begin,
                      int64_t end, int64_t *counts, struct lane_records *into)
{
    return each_windowed_lane(lanes, windowed, n, (struct window){.begin = begin, .end = end, .into = into}, counts,
                              put_states);
}

int64_t window_events(const struct stored_lane *lanes, struct windowed_lane *windowed, int64_t n, int64_t begin,
                      int64_t end, int64_t *counts, struct lane_records *into)
{
    return each_windowed_lane(lanes, windowed, n, (struct window){.begin = begin, .end = end, .into = into}, counts,
                              put_events);
}

void lane_records_free(struct lane_records *records)
{
    free(records->bytes);
    *records = (struct lane_records){0};
}
