/* The rows of many threads to the matcher, read where they lie. */
#include "matching/match_lanes.h"

#include <stdlib.h>
#include <string.h>

#include "lanes/inline/reader.h"
#include "matching/internal/matcher.h"
#include "rows/inline/ticks.h"

enum { FIRST_LATE = 1024 };

static int put_late(struct matcher *m, const struct file_request *row, int32_t rank, int32_t window)
{
    if (m->n_late == m->late_room) {
        int64_t room = m->late_room ? 2 * m->late_room : FIRST_LATE;
        struct late_request *late = realloc(m->late, (size_t)room * sizeof *late);
        if (!late) return 0;
        m->late = late;
        m->late_room = room;
    }
    m->late[m->n_late++] = (struct late_request){*row, rank, window};
    return 1;
}

/* The last of the windows before `stop` that begins at or before a time, else the first. */
static int64_t window_of(const int64_t *bounds, int64_t stop, int64_t ns)
{
    int64_t low = 0, high = stop;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (bounds[middle] <= ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int find_late(struct matcher *m, struct reader *reader, const int64_t *bounds, int64_t windows, bool *no_memory)
{
    int64_t first = 0, n;
    const struct lane *lane = reader->of->lane;
    for (int64_t w = 0; w < windows; w++, first += n) {
        int64_t end = w + 1 < windows ? bounds[w + 1] : INT64_MAX;
        if (!reader_read(reader, READER_REQUESTS, first, end, &n, no_memory)) return 0;
        const struct file_request *row = reader->rows[READER_REQUESTS];
        for (int64_t k = 0; w && k < n; k++) {
            int64_t posted = lane_ns(lane, row[k].posted);
            if (posted >= bounds[w] || !match_belongs_to_posting(&row[k])) continue;
            *no_memory = !put_late(m, &row[k], lane->rank, (int32_t)window_of(bounds, w, posted));
            if (*no_memory) return 0;
        }
    }
    return 1;
}

int64_t match_find_late(struct matcher *m, const struct stored_lane *lanes, int64_t n, const int64_t *bounds,
                        int64_t windows)
{
    struct reader reader = {.fd = -1};
    bool no_memory = false, good = true;
    int64_t k = 0;
    for (; good && k < n; k += good) {
        int64_t before = m->n_late;
        good = reader_open(&reader, &lanes[k]) && find_late(m, &reader, bounds, windows, &no_memory);
        reader_close(&reader);
        if (!good) m->n_late = before;
    }
    reader_free(&reader);
    return no_memory ? -1 : k;
}

int64_t match_late_found(const struct matcher *m)
{
    return m->n_late;
}

void match_take_late(struct matcher *m, void *late)
{
    if (m->n_late) memcpy(late, m->late, (size_t)m->n_late * sizeof *m->late);
    m->n_late = 0;
}

/* The window that is being added, and the late rows of the threads that are still to come. */
struct window {
    int64_t begin, end;
    const struct late_request *late, *late_end;
};

/* Return the number of late rows of a rank; *first receives the first of them. */
static int64_t late_of(const struct window *w, int32_t rank, const struct late_request **first)
{
    const struct late_request *at = w->late;
    while (at < w->late_end && at->rank < rank) at++;
    *first = at;
    while (at < w->late_end && at->rank == rank) at++;
    return at - *first;
}

/* Read the rows of a thread in the window; its late rows stand behind its other requests. */
static bool read_match_window(struct reader *reader, struct window *w, const int64_t *taken, int64_t n[3],
                              bool *no_memory)
{
    const struct late_request *late;
    n[2] = late_of(w, reader->of->lane->rank, &late);
    w->late = late + n[2];
    if (!reader_read(reader, READER_CALLS, taken[0], w->end, &n[0], no_memory)) return false;
    if (!reader_read(reader, READER_REQUESTS, taken[1], w->end, &n[1], no_memory)) return false;
    *no_memory = !reader_room(reader, READER_REQUESTS, n[1] + n[2]);
    struct file_request *behind = (struct file_request *)reader->rows[READER_REQUESTS] + n[1];
    for (int64_t k = 0; !*no_memory && k < n[2]; k++) behind[k] = late[k].row;
    return !*no_memory;
}

static int add_lane(struct matcher *m, struct reader *reader, struct window *w, int64_t *taken)
{
    bool no_memory = false;
    int64_t n[3];
    if (!read_match_window(reader, w, taken, n, &no_memory)) return no_memory ? MATCH_NO_MEMORY : MATCH_UNUSUAL;
    taken[0] += n[0];
    taken[1] += n[1];
    return match_add_rows(m, reader->of->lane, reader->rows[READER_CALLS], n[0], reader->rows[READER_REQUESTS], n[1],
                          n[2], w->begin, w->end);
}

int64_t match_add_lanes(struct matcher *m, const struct stored_lane *lanes, int64_t n, int64_t *taken, int64_t begin,
                        int64_t end, const void *late, int64_t n_late, int64_t most)
{
    struct window w = {begin, end, late, (const struct late_request *)late + n_late};
    struct reader reader = {.fd = -1};
    int answer = MATCH_ADDED;
    int64_t k = 0;
    while (answer == MATCH_ADDED && k < n && m->found <= most) {
        answer = reader_open(&reader, &lanes[k]) ? add_lane(m, &reader, &w, taken + 2 * k) : MATCH_UNUSUAL;
        reader_close(&reader);
        k += answer == MATCH_ADDED;
    }
    reader_free(&reader);
    return answer == MATCH_NO_MEMORY ? -1 : k;
}
