/* From rows of a rank file to packed operations: the walk takes one call after the other, and reads requests as it
   needs them; whenever there is a batch of operations, it is packed. */
#include "operations/translate.h"

#include <stdlib.h>

#include "common/array.h"
#include "lanes/inline/reader.h"
#include "operations/internal/op_step.h"
#include "operations/internal/operations.h"
#include "operations/internal/request_order.h"
#include "operations/operations.h"
#include "operations/plain_rows.h"
#include "packed/format.h"
#include "packed/pack.h"

enum { OPERATIONS_AT_ONCE = 64 };

struct translation {
    struct op_walk *walk;
    struct row_reader reader;
    struct packer *packer;
    struct request_order posted, done;
    struct packed_window packed;
    int64_t room, begins_room;
    struct op operations[OPERATIONS_AT_ONCE];
};

struct translation *translation_open(struct packer *packer, const uint8_t *posted, const uint8_t *done)
{
    struct translation *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->packer = packer;
    t->posted.wanted = posted;
    t->done.wanted = done;
    t->done.by_completed = true;
    return t;
}

void translation_close(struct translation *t)
{
    if (!t) return;
    request_order_free(&t->posted);
    request_order_free(&t->done);
    free(t->packed.bytes);
    free(t->packed.begins);
    free(t);
}

/* Room for one more batch of packed operations. */
static bool make_room_for_ops(struct translation *t)
{
    if (t->room - t->packed.n_bytes < OPERATIONS_AT_ONCE * PACK_MOST) {
        int64_t room = 2 * t->room + OPERATIONS_AT_ONCE * PACK_MOST;
        uint8_t *larger = realloc(t->packed.bytes, (size_t)room);
        if (!larger) return false;
        t->packed.bytes = larger;
        t->room = room;
    }
    return t->packed.n_begins < t->begins_room || ARRAY_GROW(t->packed.begins, t->begins_room, 64);
}

_Static_assert((int)OPERATIONS_AT_ONCE <= (int)PACK_BLOCK, "one block at most begins in a batch");

/* Pack the operations that there are. */
static void pack(struct op_walk *walk)
{
    struct translation *t = walk->context;
    struct packed_window *to = &t->packed;
    int64_t n = walk->out - t->operations;
    walk->out = t->operations;
    walk->failed |= !make_room_for_ops(t);
    if (walk->failed) return;
    int64_t *begin = &to->begins[to->n_begins];
    *begin = -1;
    int64_t bytes = packer_append(t->packer, t->operations, n, to->bytes + to->n_bytes, begin);
    if (*begin >= 0) {
        *begin += to->n_bytes;
        to->n_begins++;
    }
    to->n_bytes += bytes;
    to->n_operations += n;
}

void translation_begin(struct translation *t, struct op_walk *walk, const struct lane *lane)
{
    t->walk = walk;
    t->reader = row_reader(lane);
    request_order_begin(&t->posted, lane);
    request_order_begin(&t->done, lane);
    walk->context = t;
    walk->full = pack;
    walk->out = t->operations;
    walk->end = t->operations + OPERATIONS_AT_ONCE;
}

/* A call: most become nothing themselves, and what they say of messages is not looked at. */
static void walk_call(struct translation *t, const struct op_feed *feed, const struct file_call *row)
{
    struct trace_call call = bare_call_record(&t->reader, row);
    if (feed->plans->call[2 * call.call] != PLAN_NOTHING) tell_message(&t->reader, row, &call);
    op_step(t->walk, feed, 0, &call, CPU_UNKNOWN, 0);
}

/* Calls and polls in order of entry. */
static void walk_rows(struct translation *t, const struct op_feed *feed, const struct thread_rows *rows)
{
    const struct file_call *call = rows->calls, *calls_end = call + rows->n_calls;
    const struct file_poll *poll = rows->polls, *polls_end = poll + rows->n_polls;
    while (call < calls_end || poll < polls_end) {
        if (poll < polls_end && (call == calls_end || poll->enter <= call->enter)) {
            struct trace_call polls = poll_record(&t->reader, poll++);
            op_walk_call(t->walk, feed, &polls);
        } else {
            walk_call(t, feed, call++);
        }
    }
}

/* The last burst lasts until the end of the rank, where nothing is called. */
static void walk_end(struct translation *t, const struct op_feed *feed, int64_t end)
{
    struct trace_call nothing = {.enter = end, .exit = end, .call = (int32_t)feed->plans->n_procedures};
    op_walk_call(t->walk, feed, &nothing);
}

/* Append a window to what is packed. false: no memory. */
static bool append_window(struct translation *t, const struct op_plans *plans, const struct op_rows *rest,
                          const struct thread_rows *rows, int64_t *used_events)
{
    struct op_cursor cursor;
    struct op_feed feed = {plans, rest, &t->posted.source, &cursor};
    op_cursor_open(rest, 0, &cursor);
    cursor.done = &t->done.source;
    t->posted.late = rows->late;
    t->posted.end = t->posted.late + rows->n_late;
    if (!request_order_rows(&t->posted, rows->requests, rows->n_requests, rows->begin, rows->begin_ticks) ||
        !request_order_rows(&t->done, rows->requests, rows->n_requests, INT64_MIN, 0))
        return false;
    walk_rows(t, &feed, rows);
    if (rows->end >= 0) walk_end(t, &feed, rows->end);
    op_walk_done(t->walk, &feed, 0);
    if (rows->end >= 0) op_walk_end_calls(t->walk);
    pack(t->walk);
    *used_events = cursor.next;
    return !t->walk->failed && request_order_keep(&t->posted) && request_order_keep(&t->done);
}

static void begin_packing(struct translation *t)
{
    t->packed.n_bytes = t->packed.n_begins = t->packed.n_operations = 0;
}

const struct packed_window *translation_window(struct translation *t, const struct op_plans *plans,
                                               const struct op_rows *rest, const struct thread_rows *rows,
                                               int64_t *used_events)
{
    begin_packing(t);
    return append_window(t, plans, rest, rows, used_events) ? &t->packed : NULL;
}

/* All rows of a thread, if they lie in [0, end) and say all that there is to know. */
static bool read_plain(struct reader *reader, const struct stored_span *of, struct thread_rows *rows, bool *no_memory)
{
    const struct stored_lane *lane = reader->of;
    if (!reader_read_inside(reader, READER_CALLS, 0, of->end, no_memory) ||
        !reader_read_inside(reader, READER_POLLS, 0, of->end, no_memory) ||
        !reader_read_inside(reader, READER_REQUESTS, 0, of->end, no_memory))
        return false;
    *rows = (struct thread_rows){
        .calls = reader->rows[READER_CALLS],
        .polls = reader->rows[READER_POLLS],
        .requests = reader->rows[READER_REQUESTS],
        .n_calls = lane->calls.count,
        .n_polls = lane->polls.count,
        .n_requests = lane->requests.count,
        .begin = INT64_MIN,
        .end = lane->lane->stop,
    };
    return rows_are_plain(lane->lane, rows, of->marked) && rows_posted_from(lane->lane, rows) >= 0;
}

/* Append the operations of a thread. -1: no memory; 0: it must be read otherwise. */
static int append_lane(struct translation *t, const struct op_plans *plans, struct reader *reader,
                       const struct stored_span *of, int64_t *slots)
{
    const struct stored_lane *lane = reader->of;
    struct thread_rows rows;
    bool no_memory = false;
    if (!read_plain(reader, of, &rows, &no_memory)) return no_memory ? -1 : 0;
    int64_t begin = of->tracer_times ? lane->lane->start : 0, used;
    const int64_t none[2] = {0, 0}, flushes[2] = {0, of->tracer_times ? lane->n_flushes : 0};
    struct op_rows rest = {.first_done = none, .first_event = none, .flushes = lane->flushes, .first_flush = flushes};
    struct op_walk *walk = op_walk_open(lane->lane->rank, 1, &begin, 0, 0);
    if (!walk) return -1;
    packer_forget(t->packer);
    translation_begin(t, walk, lane->lane);
    bool done = append_window(t, plans, &rest, &rows, &used);
    *slots = op_walk_slots(walk);
    op_walk_close(walk);
    return done ? 1 : -1;
}

int64_t translation_lanes(struct translation *t, const struct op_plans *plans, const struct stored_lane *lanes,
                          int64_t n, const struct stored_span *of, int64_t *operations, int64_t *slots)
{
    struct reader reader = {.fd = -1};
    int answer = 1;
    int64_t k = 0;
    begin_packing(t);
    while (answer > 0 && k < n) {
        int64_t before = t->packed.n_operations;
        answer = reader_open(&reader, &lanes[k]) ? append_lane(t, plans, &reader, of, &slots[k]) : 0;
        reader_close(&reader);
        operations[k] = t->packed.n_operations - before;
        k += answer > 0;
    }
    reader_free(&reader);
    return answer < 0 ? -1 : k;
}

const struct packed_window *translation_packed(const struct translation *t)
{
    return &t->packed;
}
