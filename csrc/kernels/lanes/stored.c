/* Records of many threads at once: with thousands of ranks, each of which did little, most of the work would else be to
   go from one to the next. */
#include "lanes/stored.h"

#include "lanes/inline/reader.h"
#include "records.h"
#include "rows/expand.h"
#include "rows/inline/ticks.h"

/* Where the records go. */
struct sink {
    int64_t begin, end;
    int64_t *counts;
    char *out;
};

/* Reads what it needs of the reader's thread, and writes its records. false: something is otherwise. */
typedef bool expand(struct reader *reader, struct sink *to, bool *no_memory);

static int64_t each(const struct stored_lane *lanes, int64_t n, struct sink to, expand *expand)
{
    struct reader reader = {.fd = -1};
    bool no_memory = false;
    int64_t k = 0;
    for (bool good = true; good && k < n; k += good) {
        good = reader_open(&reader, &lanes[k]) && expand(&reader, &to, &no_memory);
        reader_close(&reader);
    }
    reader_free(&reader);
    return no_memory ? -1 : k;
}

/* Rows are in order of their keys. */
static bool lie_inside(const struct lane *lane, uint64_t first, uint64_t last, const struct sink *to)
{
    return lane_ns(lane, first) >= to->begin && lane_ns(lane, last) < to->end;
}

static bool read_all(struct reader *reader, enum reader_table table, bool *no_memory)
{
    int64_t n;
    return reader_read(reader, table, 0, INT64_MAX, &n, no_memory);
}

static bool read_calls(struct reader *reader, const struct sink *to, bool *no_memory)
{
    int64_t calls = reader->of->calls.count, polls = reader->of->polls.count;
    if (!read_all(reader, READER_CALLS, no_memory) || !read_all(reader, READER_POLLS, no_memory)) return false;
    const struct file_call *call = reader->rows[READER_CALLS];
    const struct file_poll *poll = reader->rows[READER_POLLS];
    const struct lane *lane = reader->of->lane;
    return (!calls || lie_inside(lane, call[0].enter, call[calls - 1].enter, to)) &&
           (!polls || lie_inside(lane, poll[0].enter, poll[polls - 1].enter, to));
}

static bool expand_all_calls(struct reader *reader, struct sink *to, bool *no_memory)
{
    if (!read_calls(reader, to, no_memory)) return false;
    const struct stored_lane *of = reader->of;
    int64_t found = expand_calls(of->lane, reader->rows[READER_CALLS], of->calls.count, reader->rows[READER_POLLS],
                                 of->polls.count, to->out);
    to->out += found * (int64_t)sizeof(struct trace_call);
    return true;
}

static bool expand_all_states(struct reader *reader, struct sink *to, bool *no_memory)
{
    if (!read_calls(reader, to, no_memory)) return false;
    const struct stored_lane *of = reader->of;
    int64_t found = expand_states(of->lane, reader->rows[READER_CALLS], of->calls.count, reader->rows[READER_POLLS],
                                  of->polls.count, of->flushes, of->n_flushes, to->begin, to->end, to->out);
    *to->counts++ = found;
    to->out += found * (int64_t)sizeof(struct trace_state);
    return true;
}

static bool expand_all_requests(struct reader *reader, struct sink *to, bool *no_memory)
{
    if (!read_all(reader, READER_REQUESTS, no_memory)) return false;
    const struct file_request *row = reader->rows[READER_REQUESTS];
    int64_t n = reader->of->requests.count;
    uint64_t first = n ? reader_request_key(&row[0]) : 0, last = n ? reader_request_key(&row[n - 1]) : 0;
    if (n && !lie_inside(reader->of->lane, first, last, to)) return false;
    to->out += expand_requests(reader->of->lane, row, n, to->out) * (int64_t)sizeof(struct trace_request);
    return true;
}

int64_t stored_calls(const struct stored_lane *lanes, int64_t n, int64_t begin, int64_t end, void *out)
{
    return each(lanes, n, (struct sink){begin, end, NULL, out}, expand_all_calls);
}

int64_t stored_requests(const struct stored_lane *lanes, int64_t n, int64_t begin, int64_t end, void *out)
{
    return each(lanes, n, (struct sink){begin, end, NULL, out}, expand_all_requests);
}

int64_t stored_states(const struct stored_lane *lanes, int64_t n, int64_t begin, int64_t end, int64_t *counts,
                      void *out)
{
    return each(lanes, n, (struct sink){begin, end, counts, out}, expand_all_states);
}
