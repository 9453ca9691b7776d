/* Reads tables of one thread after the other. */
#include "lanes/inline/reader.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "hdf5/rank_file.h"
#include "records.h"
#include "rows/inline/ticks.h"
#include "rows/stamps.h"

enum {
    BLOCK = 1024,
    SHARE = 4
}; /* rows that are read at once, and the share of the rows before that is read if it is more */

static const int64_t ROW_BYTES[READER_TABLES] = {sizeof(struct file_call), sizeof(struct file_poll),
                                                 sizeof(struct file_request)};
static void (*const LOOK[READER_TABLES])(struct stamps *, const void *, int64_t) = {stamps_of_calls, stamps_of_polls,
                                                                                    stamps_of_requests};

bool reader_open(struct reader *reader, const struct stored_lane *of)
{
    reader->of = of;
    reader->fd = open(of->path, O_RDONLY | O_CLOEXEC);
    return reader->fd >= 0;
}

void reader_close(struct reader *reader)
{
    if (reader->fd >= 0) close(reader->fd);
    reader->fd = -1;
}

void reader_free(struct reader *reader)
{
    for (int table = 0; table < READER_TABLES; table++) free(reader->rows[table]);
}

static const struct stored_rows *rows_of(const struct stored_lane *lane, enum reader_table table)
{
    return table == READER_CALLS ? &lane->calls : table == READER_POLLS ? &lane->polls : &lane->requests;
}

int64_t reader_count(const struct reader *reader, enum reader_table table)
{
    return rows_of(reader->of, table)->count;
}

bool reader_room(struct reader *reader, enum reader_table table, int64_t rows)
{
    if (rows <= reader->room[table]) return true;
    void *bigger = realloc(reader->rows[table], (size_t)(rows * ROW_BYTES[table]));
    if (!bigger) return false;
    reader->rows[table] = bigger;
    reader->room[table] = rows;
    return true;
}

static int64_t reader_row_time(const struct reader *reader, enum reader_table table, int64_t row)
{
    const void *rows = reader->rows[table];
    uint64_t key = table == READER_CALLS   ? ((const struct file_call *)rows)[row].enter
                   : table == READER_POLLS ? ((const struct file_poll *)rows)[row].enter
                                           : reader_request_key((const struct file_request *)rows + row);
    return lane_ns(reader->of->lane, key);
}

int64_t reader_cut(const struct reader *reader, enum reader_table table, int64_t low, int64_t high, int64_t end)
{
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (reader_row_time(reader, table, middle) < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Read the rows [number, number + n) behind the `before` rows in memory, and check their stamps. */
static bool read_block(struct reader *reader, enum reader_table table, int64_t number, int64_t n, int64_t before,
                       struct stamps *stamps, bool *no_memory)
{
    const struct stored_rows *rows = rows_of(reader->of, table);
    *no_memory = !reader_room(reader, table, before + n);
    if (*no_memory) return false;
    void *into = (char *)reader->rows[table] + before * ROW_BYTES[table];
    int64_t first = rows->first + number;
    if (rank_file_rows(reader->fd, rows->at, rows->chunk_rows, ROW_BYTES[table], first, first + n, 1, into) != 1)
        return false;
    if (!reader->of->last_tick) return true;
    LOOK[table](stamps, into, n);
    return stamps->first == n;
}

bool reader_read(struct reader *reader, enum reader_table table, int64_t first, int64_t end, int64_t *n,
                 bool *no_memory)
{
    const struct stored_lane *of = reader->of;
    struct stamps stamps = {.start = of->first_tick, .stop = of->last_tick, .slack = of->slack};
    int64_t left = reader_count(reader, table) - first, found = 0, block = reader->block ? reader->block : BLOCK;
    bool over = false;
    while (!over && found < left) {
        int64_t next = found / SHARE > block ? found / SHARE : block;
        int64_t more = end == INT64_MAX || left - found < next ? left - found : next;
        if (!read_block(reader, table, first + found, more, found, &stamps, no_memory)) return false;
        over = end != INT64_MAX && reader_row_time(reader, table, found + more - 1) >= end;
        found = over ? reader_cut(reader, table, found, found + more, end) : found + more;
    }
    *n = found;
    return true;
}

bool reader_time(struct reader *reader, enum reader_table table, int64_t row, int64_t *time, bool *no_memory)
{
    struct stamps stamps = {.start = reader->of->first_tick, .stop = reader->of->last_tick, .slack = reader->of->slack};
    if (!read_block(reader, table, row, 1, 0, &stamps, no_memory)) return false;
    *time = reader_row_time(reader, table, 0);
    return true;
}

/* Rows are in order of their keys. */
bool reader_read_inside(struct reader *reader, enum reader_table table, int64_t begin, int64_t end, bool *no_memory)
{
    int64_t n;
    if (!reader_read(reader, table, 0, INT64_MAX, &n, no_memory)) return false;
    return !n || (reader_row_time(reader, table, 0) >= begin && reader_row_time(reader, table, n - 1) < end);
}
