#include "record/internal/rewrite.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/internal/btree.h"

enum { BATCH = 1 << 16 }; /* bytes copied at a time */

/* A kept block's time. */
struct stretch {
    uint32_t thread;
    uint64_t begin, end;
};

struct rewrite {
    const struct store *from;
    struct store to;
    struct file_block *dropped; /* by thread: those since the latest kept one, as one; all zero: none */
    uint32_t threads;
    struct stretch *kept;
    uint64_t n_kept;
    char batch[BATCH];
};

uint64_t rewrite_bookkeeping(const struct store *s)
{
    static const enum table books[] = {TABLE_BLOCKS, TABLE_CLOCK, TABLE_SKIPPED};
    uint64_t bytes = 0;
    for (size_t i = 0; i < sizeof books / sizeof *books; i++) {
        const struct table_layout *layout = &table_layout[books[i]];
        uint64_t chunk = ((uint64_t)layout->chunk_rows * layout->row_bytes + PAGE - 1) / PAGE * PAGE;
        bytes += s->table[books[i]].rows / layout->chunk_rows * chunk;
    }
    for (int i = 0; i < BUFFERED_TABLES; i++) bytes += s->table[i].rows / table_layout[i].chunk_rows * ENTRY_BYTES;
    return bytes;
}

bool rewrite_is_due(const struct store *s)
{
    for (int i = 0; i < TABLES; i++)
        if (s->table[i].rows / table_layout[i].chunk_rows > (uint64_t)NODE_ENTRIES * NODE_ENTRIES / 2) return true;
    return false;
}

static int copy_rows(struct rewrite *r, enum table which, uint64_t first, uint64_t n)
{
    uint64_t most = BATCH / table_layout[which].row_bytes;
    int error = 0;
    while (n && !error) {
        uint64_t taken = n < most ? n : most;
        error = store_read(r->from, which, first, taken, r->batch);
        if (!error) error = store_append(&r->to, which, r->batch, taken);
        first += taken;
        n -= taken;
    }
    return error;
}

/* The sums of its rows go into as many rows as their fields need. */
static int put_dropped(struct rewrite *r, uint32_t thread)
{
    struct file_block *sum = &r->dropped[thread];
    int error = sum->flags ? store_append(&r->to, TABLE_BLOCKS, sum, 1) : 0;
    memset(sum, 0, sizeof *sum);
    return error;
}

static int add_dropped(struct rewrite *r, const struct file_block *block)
{
    struct file_block *sum = &r->dropped[block->thread];
    bool fits = true;
    for (int i = 0; i < BUFFERED_TABLES; i++) fits &= (uint64_t)sum->count[i] + block->count[i] <= UINT32_MAX;
    int error = fits ? 0 : put_dropped(r, block->thread);
    sum->thread = block->thread;
    sum->flags = BLOCK_DROPPED | BLOCK_UNWRITTEN;
    for (int i = 0; i < BUFFERED_TABLES; i++) sum->count[i] += block->count[i];
    return error;
}

static int note_stretch(struct rewrite *r, const struct file_block *block)
{
    struct file_call first, last;
    uint64_t n = block->count[TABLE_CALLS], at = block->first[TABLE_CALLS];
    if (!n) return 0;
    int error = store_read(r->from, TABLE_CALLS, at, 1, &first);
    if (!error) error = store_read(r->from, TABLE_CALLS, at + n - 1, 1, &last);
    if (!error) r->kept[r->n_kept++] = (struct stretch){block->thread, first.enter, last.exit};
    return error;
}

static int keep_block(struct rewrite *r, struct file_block *block)
{
    int error = put_dropped(r, block->thread);
    if (!error) error = note_stretch(r, block);
    for (int i = 0; i < BUFFERED_TABLES && !error; i++) {
        uint64_t first = r->to.table[i].rows;
        error = copy_rows(r, i, block->first[i], block->count[i]);
        block->first[i] = first;
    }
    return error ? error : store_append(&r->to, TABLE_BLOCKS, block, 1);
}

static int copy_blocks(struct rewrite *r)
{
    uint64_t n = r->from->table[TABLE_BLOCKS].rows;
    struct file_block *blocks = malloc(n * sizeof *blocks);
    int error = blocks ? store_read(r->from, TABLE_BLOCKS, 0, n, blocks) : ENOMEM;
    for (uint64_t i = 0; i < n && !error; i++)
        if (blocks[i].thread >= r->threads) r->threads = blocks[i].thread + 1;
    r->dropped = error ? NULL : calloc(r->threads + 1, sizeof *r->dropped);
    r->kept = error ? NULL : calloc(n, sizeof *r->kept);
    if (!r->dropped || !r->kept) error = ENOMEM;
    for (uint64_t i = 0; i < n && !error; i++)
        error = blocks[i].flags & BLOCK_DROPPED ? add_dropped(r, &blocks[i]) : keep_block(r, &blocks[i]);
    for (uint32_t t = 0; t < r->threads && !error; t++) error = put_dropped(r, t);
    free(blocks);
    return error;
}

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_thread(const void *left, const void *right)
{
    const struct stretch *a = left, *b = right;
    return a->thread != b->thread ? by_number(a->thread, b->thread) : by_number(a->begin, b->begin);
}

static int same_row_channel(const struct file_skipped *a, const struct file_skipped *b)
{
    int order = by_number(a->thread, b->thread);
    if (!order) order = by_number(a->what, b->what);
    if (!order) order = by_number(a->comm, b->comm);
    if (!order) order = by_number((uint32_t)a->peer, (uint32_t)b->peer);
    return order ? order : by_number((uint32_t)a->tag, (uint32_t)b->tag);
}

static int by_row_channel(const void *left, const void *right)
{
    const struct file_skipped *a = left, *b = right;
    int order = same_row_channel(a, b);
    return order ? order : by_number(a->time, b->time);
}

/* May recorded messages of the thread have been posted between two times? */
static bool is_kept_between(const struct rewrite *r, uint32_t thread, uint64_t from, uint64_t to)
{
    uint64_t low = 0, high = r->n_kept;
    while (low < high) { /* the first that ends after `from` */
        const struct stretch *middle = &r->kept[low + (high - low) / 2];
        if (middle->thread < thread || (middle->thread == thread && middle->end <= from))
            low += (high - low) / 2 + 1;
        else
            high = low + (high - low) / 2;
    }
    return low < r->n_kept && r->kept[low].thread == thread && r->kept[low].begin <= to;
}

static bool rows_may_join(const struct rewrite *r, const struct file_skipped *a, const struct file_skipped *b,
                          const struct open_receives *open)
{
    if (same_row_channel(a, b) || a->what == WHAT_SEND_CANCELLED) return false;
    if (is_kept_between(r, a->thread, a->time, b->time)) return false;
    return skipped_where_posted(a->what) || !open_receives_between(open, a->time, b->time);
}

/* All rows count now, so none bears the mark of a dropped block: what the blocks say of them is zero. */
static int copy_skipped(struct rewrite *r, const struct open_receives *open)
{
    uint64_t n = r->from->table[TABLE_SKIPPED].rows, last = 0;
    if (!n) return 0;
    struct file_skipped *rows = malloc(n * sizeof *rows);
    int error = rows ? store_read(r->from, TABLE_SKIPPED, 0, n, rows) : ENOMEM;
    if (r->n_kept) qsort(r->kept, r->n_kept, sizeof *r->kept, by_thread);
    for (uint64_t i = 0; i < n && !error; i++) rows[i].what &= (uint16_t)~SKIPPED_BY_DROPPING;
    if (!error) qsort(rows, n, sizeof *rows, by_row_channel);
    for (uint64_t i = 1; i < n && !error; i++) {
        if (rows_may_join(r, &rows[last], &rows[i], open)) {
            rows[last].time = rows[i].time;
            rows[last].count += rows[i].count;
        } else {
            rows[++last] = rows[i];
        }
    }
    if (!error) error = store_append(&r->to, TABLE_SKIPPED, rows, last + 1);
    free(rows);
    return error;
}

/* The first, which is the program's start, and those around what is kept. */
static int copy_clock(struct rewrite *r)
{
    uint64_t n = r->from->table[TABLE_CLOCK].rows, since = UINT64_MAX, first = 0;
    struct file_clock *rows = malloc((n + 1) * sizeof *rows);
    int error = rows ? store_read(r->from, TABLE_CLOCK, 0, n, rows) : ENOMEM;
    for (uint64_t i = 0; i < r->n_kept; i++)
        if (r->kept[i].begin < since) since = r->kept[i].begin;
    while (!error && first + 2 < n && rows[first + 1].ticks <= since) first++;
    if (!error && first) error = store_append(&r->to, TABLE_CLOCK, rows, 1);
    if (!error) error = store_append(&r->to, TABLE_CLOCK, rows + first, n - first);
    free(rows);
    return error;
}

static int copy_tables(struct rewrite *r, const struct open_receives *open)
{
    int error = copy_blocks(r);
    if (!error) error = copy_skipped(r, open);
    if (!error) error = copy_clock(r);
    for (int i = BUFFERED_TABLES; i < TABLES && !error; i++)
        if (i != TABLE_BLOCKS && i != TABLE_SKIPPED && i != TABLE_CLOCK)
            error = copy_rows(r, i, 0, r->from->table[i].rows);
    free(r->dropped);
    free(r->kept);
    return error;
}

int rewrite_store(struct store *s, const char *path, const struct open_receives *open)
{
    char unfinished[PATH_MAX];
    struct rewrite *r = calloc(1, sizeof *r);
    if (!r) return ENOMEM;
    int error = snprintf(unfinished, sizeof unfinished, "%s.tmp", path) < (int)sizeof unfinished ? 0 : ENAMETOOLONG;
    r->from = s;
    if (!error) error = store_create_like(&r->to, unfinished, s);
    if (!error) {
        error = copy_tables(r, open);
        if (!error && rename(unfinished, path)) error = errno;
        if (error) unlink(unfinished);
        close(error ? r->to.fd : s->fd);
        if (!error) *s = r->to;
    }
    free(r);
    return error;
}
