/* Requests in order of time. The runtime writes them as they complete, nearly always also in order of posting: so rows
   are looked at once before, and sorted only where they must be. */
#include "operations/internal/request_order.h"

#include <stdlib.h>

#include "common/array.h"

static int64_t record_order_time(const struct request_order *o, const struct trace_request *record)
{
    return o->by_completed ? record->completed : record->posted;
}

/* Whether those wanted are in order as they lie: a clock never falls, so ticks will do. */
static bool lie_in_order(const struct request_order *o, uint64_t least_ticks)
{
    uint64_t origin = (uint64_t)o->reader.lane->clock.pieces[0].origin;
    int64_t least = o->by_completed ? INT64_MIN : (int64_t)(least_ticks - origin), last = INT64_MIN;
    for (int64_t k = 0; k < o->n; k++) {
        const struct file_request *row = &o->rows[k];
        uint64_t ticks = o->by_completed ? row->completed : row->posted;
        int64_t time = (int64_t)(ticks - origin);
        if (!o->wanted[row->what] || time < least) continue;
        if (time < last || !ticks) return false;
        last = time;
    }
    return true;
}

static bool sort_request_order(struct request_order *o)
{
    int64_t count = 0, room = o->n + o->n / 2;
    if (room > o->order_room) {
        free(o->order);
        o->order = malloc((size_t)room * sizeof *o->order);
        o->order_room = o->order ? room : 0;
        if (!o->order) return false;
    }
    for (int64_t k = 0; k < o->n; k++) {
        struct trace_request record;
        request_record(&o->reader, &o->rows[k], &record);
        if (o->wanted[record.what] && record.posted >= o->least)
            o->order[count++] = (struct timed_row){record_order_time(o, &record), k};
    }
    time_order(o->order, count, o->order + count);
    o->n = count;
    return true;
}

/* The next ones into `read`, after what is left of the windows before. */
static bool read_on(struct request_source *source)
{
    struct request_order *o = (struct request_order *)source;
    struct trace_request *to = o->read, *end = o->read + REQUESTS_AT_ONCE;
    const int64_t n_rows = o->n;
    int64_t at = o->at;
    while (to < end && o->rest_at < o->n_rest) *to++ = o->rest[o->rest_at++];
    while (to < end && at < n_rows) {
        const struct file_request *row = &o->rows[o->is_sorted ? o->order[at].row : at];
        if (o->wanted[row->what]) {
            request_record(&o->reader, row, to);
            if (o->late < o->end && record_order_time(o, o->late) < record_order_time(o, to)) {
                *to++ = *o->late++;
                continue;
            }
            to += to->posted >= o->least;
        }
        at++;
    }
    while (to < end && o->late < o->end) *to++ = *o->late++;
    o->at = at;
    source->next = o->read;
    source->end = to;
    if (to == o->read) source->more = NULL;
    return source->more;
}

bool request_order_rows(struct request_order *o, const struct file_request *rows, int64_t n, int64_t least,
                        uint64_t least_ticks)
{
    o->source = (struct request_source){o->read, o->read, read_on};
    o->rows = rows;
    o->n = n;
    o->at = o->rest_at = 0;
    o->least = least;
    o->is_sorted = !lie_in_order(o, least_ticks);
    return !o->is_sorted || sort_request_order(o);
}

/* Rows of `rest` that were not read yet lie behind those that are kept: each of these was read before. */
bool request_order_keep(struct request_order *o)
{
    struct request_source *source = &o->source;
    int64_t kept = 0;
    while (next_request(source)) {
        if (kept == o->rest_room && !ARRAY_GROW(o->rest, o->rest_room, 64)) return false;
        o->rest[kept++] = *source->next++;
    }
    o->n_rest = kept;
    return true;
}

void request_order_begin(struct request_order *o, const struct lane *lane)
{
    o->reader = row_reader(lane);
    o->n_rest = 0;
    o->late = o->end = NULL;
}

void request_order_free(struct request_order *o)
{
    free(o->order);
    free(o->rest);
}
