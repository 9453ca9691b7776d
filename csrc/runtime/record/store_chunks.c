/* Chunks that were appended to a rank file, found again: to be read, marked, and given back. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "record/internal/btree.h"
#include "record/store.h"

static int read_at(int fd, void *data, size_t bytes, uint64_t at)
{
    while (bytes) {
        ssize_t done = pread(fd, data, bytes, (off_t)at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return done ? errno : EIO;
        data = (char *)data + done;
        bytes -= (size_t)done;
        at += (uint64_t)done;
    }
    return 0;
}

/* Where a node's entry has its child. */
static uint64_t child_of(uint64_t node_at, uint64_t entry)
{
    return node_at + NODE_HEADER + entry * ENTRY_BYTES + KEY_BYTES;
}

/* All leaves but the last are full. */
int store_find_chunk(const struct store *s, enum table which, uint64_t chunk, uint64_t *said_at, uint64_t *at)
{
    const struct table_state *t = &s->table[which];
    uint64_t leaf = t->leaf_at;
    int error = t->root_at ? read_at(s->fd, &leaf, sizeof leaf, child_of(t->root_at, chunk / NODE_ENTRIES)) : 0;
    *said_at = child_of(leaf, chunk % NODE_ENTRIES);
    return error ? error : read_at(s->fd, at, sizeof *at, *said_at);
}

static int address(const struct store *s, enum table which, uint64_t chunk, uint64_t *at)
{
    uint64_t said_at;
    return store_find_chunk(s, which, chunk, &said_at, at);
}

int store_read(const struct store *s, enum table which, uint64_t first, uint64_t n, void *rows)
{
    const struct table_layout *layout = &table_layout[which];
    int error = 0;
    while (n && !error) {
        uint64_t at, offset = first % layout->chunk_rows, taken = layout->chunk_rows - offset;
        if (taken > n) taken = n;
        error = address(s, which, first / layout->chunk_rows, &at);
        if (!error) error = read_at(s->fd, rows, taken * layout->row_bytes, at + offset * layout->row_bytes);
        rows = (char *)rows + taken * layout->row_bytes;
        first += taken;
        n -= taken;
    }
    return error;
}

int store_overwrite(const struct store *s, enum table which, uint64_t row, uint64_t offset, const void *data,
                    uint64_t bytes)
{
    const struct table_layout *layout = &table_layout[which];
    uint64_t at;
    int error = address(s, which, row / layout->chunk_rows, &at);
    if (error) return error;
    at += row % layout->chunk_rows * layout->row_bytes + offset;
    return pwrite(s->fd, data, bytes, (off_t)at) == (ssize_t)bytes ? 0 : errno ? errno : EIO;
}

bool store_can_punch(const struct store *s)
{
    int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    return fallocate(s->fd, mode, (off_t)s->end, 1 << 12) == 0; /* behind the end: nothing is there */
}
