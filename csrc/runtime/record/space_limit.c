#include "record/space_limit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/settings.h"
#include "common/user_message.h"
#include "record/internal/rewrite.h"
#include "record/rank_file.h"
#include "record/threads.h"
#include "variables.h"

enum policy { POLICY_STOP, POLICY_RING, POLICY_THIN };
enum { MOST_SHARE = 8 };         /* a buffer is at most an eighth of the limit */
enum { REWRITE_SHARE = 16 };     /* what dropped blocks leave behind may grow by so much of the limit */
enum { REWRITE_ROOM = 1 << 17 }; /* that the beginning of a file takes, and chunks that are not full */

/* A row of `blocks`. */
struct held {
    uint32_t ordinal; /* among the buffers of its thread */
    bool there;
    uint64_t bytes;
};

/* Rows of a chunk that were dropped; when all are, the chunk is given back. */
struct chunks {
    uint16_t *dropped;
    uint64_t n;
};

static struct {
    uint64_t bytes;
    enum policy policy;
    bool stopped;
    uint64_t step;   /* thin: of a thread's buffers every so manieth is kept */
    uint64_t cursor; /* the next row of `blocks` that may be dropped */
    struct held *held;
    uint64_t n_held, room_held;
    struct chunks chunks[BUFFERED_TABLES];
    uint64_t kept_bytes;       /* of all blocks that are there */
    uint64_t books;            /* bookkeeping when the file was last written anew */
    struct open_receives open; /* posted in dropped blocks, and in none of them completed */
    struct skipped lost;       /* messages of what was lost after the stop */
    uint64_t lost_since, lost_calls;
} limit = {.step = 1};

void limit_start(void)
{
    static const char *const names[] = {[POLICY_STOP] = "stop", [POLICY_RING] = "ring", [POLICY_THIN] = "thin"};
    const char *wanted = setting_text("TRACELIB_LIMIT_POLICY");
    limit.bytes = setting_bytes("TRACELIB_LIMIT", LEAST_LIMIT, MOST_LIMIT, 0);
    bool known = !wanted;
    for (int i = 0; wanted && i < 3; i++)
        if (strcmp(wanted, names[i]) == 0) {
            limit.policy = (enum policy)i;
            known = true;
        }
    if (!known) setting_trouble("TRACELIB_LIMIT_POLICY=%s is none of stop, ring and thin; using stop", wanted);
    if (wanted && !setting_text("TRACELIB_LIMIT"))
        setting_trouble("TRACELIB_LIMIT_POLICY=%s does nothing without TRACELIB_LIMIT", wanted);
}

uint64_t limit_bytes(void)
{
    return limit.bytes;
}

uint64_t limit_buffer_bytes(uint64_t wanted)
{
    return limit.bytes && wanted > limit.bytes / MOST_SHARE ? limit.bytes / MOST_SHARE : wanted;
}

bool limit_drops(void)
{
    return limit.bytes && limit.policy != POLICY_STOP;
}

bool limit_stopped(void)
{
    return limit.stopped;
}

static void stop_instead(const char *why)
{
    say("rank %d: TRACELIB_LIMIT_POLICY: %s; recording stops when the limit is met", rank_file.rank, why);
    limit.policy = POLICY_STOP;
}

void limit_meet_file(struct store *s)
{
    if (!limit_drops()) return;
    s->paged = true;
    if (!store_can_punch(s)) stop_instead("this file system cannot give back parts of a file");
}

void limit_wrote(const struct store *s, const struct thread *t)
{
    if (!limit_drops()) return;
    uint64_t rows = s->table[TABLE_BLOCKS].rows;
    if (rows > limit.room_held) {
        uint64_t room = 2 * rows + 64;
        struct held *larger = realloc(limit.held, room * sizeof *larger);
        if (!larger) {
            stop_instead("no memory");
            return;
        }
        limit.held = larger;
        limit.room_held = room;
    }
    struct file_block block;
    uint64_t bytes = 0;
    if (store_read(s, TABLE_BLOCKS, rows - 1, 1, &block) == 0)
        for (int i = 0; i < BUFFERED_TABLES; i++) bytes += (uint64_t)block.count[i] * table_layout[i].row_bytes;
    for (; limit.n_held < rows; limit.n_held++) limit.held[limit.n_held] = (struct held){.there = false};
    limit.held[rows - 1] = (struct held){t->buffers, true, bytes};
    limit.kept_bytes += bytes;
}

/* Count the rows of a dropped block in their chunks, and give back those that are empty now. */
static int give_back_chunks(struct store *s, enum table which, uint64_t first, uint64_t count)
{
    uint32_t chunk_rows = table_layout[which].chunk_rows;
    struct chunks *c = &limit.chunks[which];
    uint64_t needed = (first + count + chunk_rows - 1) / chunk_rows;
    if (needed > c->n) {
        uint16_t *larger = realloc(c->dropped, 2 * needed * sizeof *larger);
        if (!larger) return ENOMEM;
        memset(larger + c->n, 0, (2 * needed - c->n) * sizeof *larger);
        c->dropped = larger;
        c->n = 2 * needed;
    }
    for (int error; count;) {
        uint64_t chunk = first / chunk_rows, n = chunk_rows - first % chunk_rows;
        if (n > count) n = count;
        c->dropped[chunk] = (uint16_t)(c->dropped[chunk] + n);
        if (c->dropped[chunk] == chunk_rows && (error = store_drop_chunk(s, which, chunk))) return error;
        first += n;
        count -= n;
    }
    return 0;
}

/* The messages of a block that lies in the file. */
static int count_messages(const struct store *s, const struct file_block *b, struct skipped *messages)
{
    struct file_call *calls = malloc((b->count[TABLE_CALLS] + 1) * sizeof *calls);
    struct file_request *requests = malloc((b->count[TABLE_REQUESTS] + 1) * sizeof *requests);
    int error = calls && requests ? 0 : ENOMEM;
    if (!error) error = store_read(s, TABLE_CALLS, b->first[TABLE_CALLS], b->count[TABLE_CALLS], calls);
    if (!error) error = store_read(s, TABLE_REQUESTS, b->first[TABLE_REQUESTS], b->count[TABLE_REQUESTS], requests);
    if (!error &&
        !skipped_buffer(messages, calls, b->count[TABLE_CALLS], requests, b->count[TABLE_REQUESTS], &limit.open))
        error = ENOMEM;
    free(calls);
    free(requests);
    return error;
}

/* First its messages are written, then it is marked, with their number; then its space is given back. A kill in between
 * leaves rows of `skipped` that no block counts, or space: readers know. */
static int drop_chunk(struct store *s, uint64_t row)
{
    struct file_block block;
    struct skipped messages = {0};
    int error = store_read(s, TABLE_BLOCKS, row, 1, &block);
    if (!error) error = count_messages(s, &block, &messages);
    uint32_t flags = block.flags | BLOCK_DROPPED | (uint32_t)messages.n << BLOCK_SKIPPED_SHIFT;
    if (!error) error = skipped_write(&messages, s, block.thread, SKIPPED_BY_DROPPING);
    free(messages.runs);
    if (!error) error = store_overwrite(s, TABLE_BLOCKS, row, offsetof(struct file_block, flags), &flags, sizeof flags);
    for (int i = 0; i < BUFFERED_TABLES && !error; i++) error = give_back_chunks(s, i, block.first[i], block.count[i]);
    limit.held[row].there = false;
    limit.kept_bytes -= limit.held[row].bytes;
    if (!error) threads_left_out(block.thread, block.count[TABLE_CALLS]);
    return error;
}

/* The oldest block that is not wanted any more; of a thinned trace those between what is kept, and when there are none
 * left of them every second of what is kept. False: there is none. */
static bool find_dispensable(uint64_t *row)
{
    uint64_t step = limit.step;
    for (int passes = 0; passes < 32; passes++) {
        for (; limit.cursor < limit.n_held; limit.cursor++) {
            const struct held *h = &limit.held[limit.cursor];
            if (!h->there || (limit.policy == POLICY_THIN && h->ordinal % limit.step == 0)) continue;
            *row = limit.cursor;
            return true;
        }
        if (limit.policy == POLICY_RING) return false;
        limit.step *= 2;
        limit.cursor = 0;
    }
    limit.step = step;
    return false;
}

static bool is_sampled(const struct thread *t)
{
    return limit.policy != POLICY_THIN || t->buffers % limit.step == 0;
}

/* The kept blocks have other rows now; the dropped ones were not left out one by one. */
static void find_held_again(const struct store *s)
{
    uint64_t n = 0, old = limit.n_held;
    struct file_block block;
    for (uint64_t from = 0; n < old && n < s->table[TABLE_BLOCKS].rows; n++) {
        bool there = store_read(s, TABLE_BLOCKS, n, 1, &block) == 0 && !(block.flags & BLOCK_DROPPED);
        while (there && from < old && !limit.held[from].there) from++;
        limit.held[n] = there && from < old ? limit.held[from++] : (struct held){.there = false};
    }
    limit.n_held = n;
    limit.cursor = 0;
    for (int i = 0; i < BUFFERED_TABLES; i++) free(limit.chunks[i].dropped);
    memset(limit.chunks, 0, sizeof limit.chunks);
}

/* Dropping and leaving out alone would fill the limit with what is left behind of each block. The new file needs room
 * beside the old one: more is dropped, down to about half of the limit. If it cannot be written, all goes on as before.
 */
static int write_anew(struct store *s, uint64_t bytes)
{
    uint64_t row, beside = limit.books + limit.bytes / REWRITE_SHARE + REWRITE_ROOM + bytes;
    int error = 0;
    while (!error && store_bytes(s) + limit.kept_bytes + beside > limit.bytes && find_dispensable(&row))
        error = drop_chunk(s, row);
    if (!error) error = store_trim(s, 0);
    if (!error && rewrite_store(s, rank_file.path, &limit.open) == 0) find_held_again(s);
    limit.books = rewrite_bookkeeping(s);
    return error;
}

static bool is_bookkeeping_large(const struct store *s)
{
    return limit_drops() && (rewrite_bookkeeping(s) > limit.books + limit.bytes / REWRITE_SHARE || rewrite_is_due(s));
}

static bool stop_for(int error)
{
    if (!error) return false;
    stop_instead(strerror(error));
    limit.stopped = true;
    return true;
}

bool limit_admits(struct store *s, const struct thread *t, uint64_t bytes)
{
    uint64_t row;
    if (!limit.bytes) return true;
    if (limit.stopped) return false;
    if (is_bookkeeping_large(s) && stop_for(write_anew(s, bytes))) return false;
    while (!limit.stopped && is_sampled(t) && store_bytes(s) + bytes > limit.bytes) {
        if (limit_drops() && find_dispensable(&row))
            stop_for(drop_chunk(s, row));
        else
            limit.stopped = true;
    }
    bool admitted = !limit.stopped && is_sampled(t);
    return !stop_for(store_trim(s, admitted ? bytes : 0)) && admitted;
}

/* After the stop: one row for all that each thread loses, and the messages when the run ends. Whoever finds the spool
 * after a kill learns from base[1] whether lost_calls counts its calls. */
static int lose(struct store *s, struct thread *t, struct file_block *block, uint64_t calls)
{
    struct spool_header *spool = t->spool;
    const struct file_call *lost = t->rows[TABLE_CALLS];
    const struct open_receives none = {0}; /* what is still open will not be recorded either */
    int error = t->lost_rows == 0 ? store_append(s, TABLE_BLOCKS, block, 1) : 0;
    for (int i = 0; i < BUFFERED_TABLES; i++) t->lost_rows += spool->count[i];
    t->lost_calls += calls;
    limit.lost_calls += calls;
    if (!limit.lost_since) limit.lost_since = spool->count[TABLE_CALLS] ? lost[0].enter : clock_ticks();
    if (!skipped_rows(&limit.lost, lost, spool->count[TABLE_CALLS], t->rows[TABLE_REQUESTS],
                      spool->count[TABLE_REQUESTS]))
        return ENOMEM;
    skipped_join(&limit.lost, &none, limit.lost_since);
    __atomic_store_n(&spool->base[1], limit.lost_calls, __ATOMIC_RELEASE);
    store_put_integer(s, AT_LOST_CALLS, limit.lost_calls);
    return error;
}

int limit_leave_out(struct store *s, struct thread *t, uint64_t calls)
{
    struct spool_header *spool = t->spool;
    struct file_block block = {.thread = t->index, .flags = BLOCK_DROPPED | BLOCK_UNWRITTEN};
    for (int i = 0; i < BUFFERED_TABLES; i++) {
        block.first[i] = s->table[i].rows;
        block.count[i] = (uint32_t)spool->count[i];
    }
    if (spool->flushing != LEAVING_OUT) {
        spool->base[0] = s->table[TABLE_BLOCKS].rows;
        spool->base[1] = 0;
    }
    __atomic_store_n(&spool->flushing, LEAVING_OUT, __ATOMIC_RELEASE);
    if (limit.stopped) return lose(s, t, &block, calls); /* what a spool holds from now on is lost, too */
    struct skipped messages = {0};
    int error = 0;
    if (!skipped_buffer(&messages, t->rows[TABLE_CALLS], spool->count[TABLE_CALLS], t->rows[TABLE_REQUESTS],
                        spool->count[TABLE_REQUESTS], &limit.open))
        error = ENOMEM;
    block.flags |= (uint32_t)messages.n << BLOCK_SKIPPED_SHIFT;
    if (!error) error = skipped_write(&messages, s, t->index, SKIPPED_BY_DROPPING);
    free(messages.runs);
    if (!error) error = store_append(s, TABLE_BLOCKS, &block, 1);
    if (!error) t->left_out_calls += calls;
    return error;
}

void limit_forgot(struct thread *t)
{
    __atomic_store_n(limit.stopped ? &t->spool->base[1] : &t->spool->flushing, 0, __ATOMIC_RELEASE);
}

int limit_close(struct store *s)
{
    int error = limit.lost.n ? skipped_write(&limit.lost, s, 0, 0) : 0;
    if (!error) error = store_trim(s, 0);
    free(limit.lost.runs);
    free(limit.open.posted);
    limit.open = (struct open_receives){0};
    limit.lost = (struct skipped){0};
    return error;
}
