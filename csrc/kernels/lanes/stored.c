/* Reads records of many threads at once. With thousands of ranks that each did little, most of the time would else
   go into stepping from one rank to the next. */
#include "lanes/stored.h"

#include "lanes/inline/reader.h"
#include "records.h"
#include "rows/expand.h"

/* The interval that is read, and the place for the records. */
struct sink {
    int64_t begin, end;
    char *out;
};

/* Callback that reads rows of the reader's thread and writes its records. Returns false if the thread must be read
   otherwise. */
typedef bool expand(struct reader *reader, struct sink *to, bool *no_memory);

static int64_t each_lane(const struct stored_lane *lanes, int64_t n, struct sink to, expand *expand)
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

static bool read_calls(struct reader *reader, const struct sink *to, bool *no_memory)
{
    return reader_read_inside(reader, READER_CALLS, to->begin, to->end, no_memory) &&
           reader_read_inside(reader, READER_POLLS, to->begin, to->end, no_memory);
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

static bool expand_all_requests(struct reader *reader, struct sink *to, bool *no_memory)
{
    if (!reader_read_inside(reader, READER_REQUESTS, to->begin, to->end, no_memory)) return false;
    const struct file_request *row = reader->rows[READER_REQUESTS];
    int64_t n = reader->of->requests.count;
    to->out += expand_requests(reader->of->lane, row, n, to->out) * (int64_t)sizeof(struct trace_request);
    return true;
}

int64_t stored_calls(const struct stored_lane *lanes, int64_t n, int64_t begin, int64_t end, void *out)
{
    return each_lane(lanes, n, (struct sink){begin, end, out}, expand_all_calls);
}

int64_t stored_requests(const struct stored_lane *lanes, int64_t n, int64_t begin, int64_t end, void *out)
{
    return each_lane(lanes, n, (struct sink){begin, end, out}, expand_all_requests);
}
