#define _GNU_SOURCE
#define STORE_TEMPLATE /* this file alone takes the template's bytes */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "btree.h"
#include "compress.h"
#include "signals.h"

static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static struct held_signals held; /* by the thread that has the lock */

bool store_begin(void)
{
    if (pthread_mutex_lock(&lock)) return false;
    signals_hold(&held);
    return true;
}

void store_end(void)
{
    struct held_signals mine = held;
    pthread_mutex_unlock(&lock);
    signals_release(&mine);
}

void store_reset_lock(void)
{
    lock = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
}

static int write_at(int fd, const void *data, size_t bytes, uint64_t at)
{
    while (bytes) {
        ssize_t done = pwrite(fd, data, bytes, (off_t)at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return done ? errno : ENOSPC;
        data = (const char *)data + done;
        bytes -= (size_t)done;
        at += (uint64_t)done;
    }
    return 0;
}

int store_put_integer(struct store *s, uint64_t at, uint64_t value)
{
    return write_at(s->fd, &value, sizeof value, at);
}

int store_put_text(struct store *s, uint64_t at, uint64_t room, const char *text)
{
    char padded[ROOM_MAX] = "";
    size_t length = strnlen(text, room);
    memcpy(padded, text, length);
    return write_at(s->fd, padded, room, at);
}

/* 0 to 2 may be free, but whoever prints means the streams that these numbers stand for. */
static int open_file(struct store *s, const char *path, int flags)
{
    struct stat file;
    int low = open(path, O_RDWR | O_CLOEXEC | flags, 0644);
    if (low < 0) return errno;
    s->fd = low > 2 ? low : fcntl(low, F_DUPFD_CLOEXEC, 3);
    int error = s->fd < 0 || fstat(s->fd, &file) ? errno : 0;
    if (low <= 2) close(low);
    if (error) return error;
    s->device = file.st_dev;
    s->inode = file.st_ino;
    return 0;
}

static bool same_file(const struct store *s, const struct stat *file)
{
    return file->st_dev == s->device && file->st_ino == s->inode;
}

int store_check(struct store *s, const char *path)
{
    struct stat file;
    struct store again;
    if (fstat(s->fd, &file) == 0 && same_file(s, &file)) return 0;
    int error = open_file(&again, path, 0);
    if (error) return error;
    bool ours = again.device == s->device && again.inode == s->inode;
    if (ours)
        s->fd = again.fd;
    else
        close(again.fd);
    return ours ? 0 : ENOENT;
}

/* The template hides the messages that declare the filters. */
static int declare_filters(struct store *s)
{
    uint16_t type = FILTERS_MESSAGE;
    int error = 0;
    for (int i = 0; !error && i < BUFFERED_TABLES; i++)
        error = write_at(s->fd, &type, sizeof type, table_layout[i].filters_at);
    return error;
}

/* Under another name until it is valid: a process may be killed at any moment. */
int store_create(struct store *s, const char *path, bool compressed)
{
    char unfinished[PATH_MAX];
    memset(s, 0, sizeof *s);
    s->fd = -1;
    s->compressed = compressed;
    if (access(path, F_OK) == 0) return EEXIST;
    if (snprintf(unfinished, sizeof unfinished, "%s.tmp", path) >= (int)sizeof unfinished) return ENAMETOOLONG;
    int error = open_file(s, unfinished, O_CREAT | O_TRUNC);
    if (error) return error;
    s->end = TEMPLATE_BYTES;
    error = ftruncate(s->fd, TEMPLATE_BYTES) ? errno : 0;
    for (size_t i = 0; !error && i < sizeof template_segments / sizeof template_segments[0]; i++) {
        const struct segment *g = &template_segments[i];
        error = write_at(s->fd, template_bytes + g->from, g->bytes, g->at);
    }
    if (!error && compressed) error = declare_filters(s);
    if (!error && rename(unfinished, path)) error = errno;
    if (error) {
        close(s->fd);
        unlink(unfinished);
        s->fd = -1;
    }
    return error;
}

/* The template's part of a file, with the attributes as they are now, and no rows. */
static int copy_template(int from, int to)
{
    static char bytes[TEMPLATE_BYTES];
    uint64_t undefined = UNDEFINED_ADDRESS, none = 0;
    if (pread(from, bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return errno ? errno : EIO;
    for (int i = 0; i < TABLES; i++) {
        memcpy(bytes + table_layout[i].layout_at, &undefined, sizeof undefined);
        memcpy(bytes + table_layout[i].length_at, &none, sizeof none);
    }
    return write_at(to, bytes, sizeof bytes, 0);
}

int store_create_like(struct store *s, const char *path, const struct store *like)
{
    *s = (struct store){.fd = -1, .paged = like->paged, .end = TEMPLATE_BYTES};
    int error = open_file(s, path, O_CREAT | O_TRUNC);
    if (!error) error = copy_template(like->fd, s->fd);
    if (!error) error = store_put_integer(s, AT_END_OF_FILE, s->end);
    if (error && s->fd >= 0) {
        close(s->fd);
        unlink(path);
    }
    return error;
}

/* Room for a block of metadata or data at the end of the file; sparse until it is written. */
static int extend(struct store *s, uint64_t bytes, uint64_t *at)
{
    if (s->paged) s->end = (s->end + PAGE - 1) / PAGE * PAGE;
    *at = s->end;
    if (ftruncate(s->fd, (off_t)(s->end + bytes))) return errno;
    s->end += bytes;
    return store_put_integer(s, AT_END_OF_FILE, s->end);
}

/* Append n entries to a node: first they, with the key that ends the last one, then the count that makes them exist. */
static int add_entries(struct store *s, uint64_t node_at, uint32_t used, const struct entry *entries, uint32_t n)
{
    int error =
        write_at(s->fd, entries, n * sizeof *entries + KEY_BYTES, node_at + NODE_HEADER + (uint64_t)used * ENTRY_BYTES);
    uint16_t count = (uint16_t)(used + n);
    return error ? error : write_at(s->fd, &count, sizeof count, node_at + AT_USED);
}

/* An empty node at the end of the file. */
static int add_node(struct store *s, uint8_t level, uint64_t left, uint64_t *at)
{
    struct node_header node = {{'T', 'R', 'E', 'E'}, 1, level, 0, left, UNDEFINED_ADDRESS};
    int error = extend(s, NODE_BYTES, at);
    return error ? error : write_at(s->fd, &node, sizeof node, *at);
}

static int add_leaf(struct store *s, struct table_state *t)
{
    uint64_t at;
    int error = add_node(s, 0, t->leaf_at ? t->leaf_at : UNDEFINED_ADDRESS, &at);
    if (!error && t->leaf_at) error = write_at(s->fd, &at, sizeof at, t->leaf_at + AT_RIGHT_SIBLING);
    if (error) return error;
    t->leaf_at = at;
    t->leaf_used = 0;
    return 0;
}

/* A root above the table's first leaf. */
static int add_root(struct store *s, struct table_state *t, uint64_t first_leaf, struct key from)
{
    struct entry entries[2] = {{from, first_leaf}, {from, 0}};
    int error = add_node(s, 1, UNDEFINED_ADDRESS, &t->root_at);
    if (!error) error = add_entries(s, t->root_at, 0, entries, 1);
    t->root_used = 1;
    return error;
}

/* The newest leaf is new, and the one before it is full: make it known. */
static int add_leaf_to_tree(struct store *s, enum table which, uint64_t leaf_before)
{
    struct table_state *t = &s->table[which];
    const struct table_layout *layout = &table_layout[which];
    uint32_t chunk_bytes = layout->chunk_rows * layout->row_bytes;
    if (!leaf_before) return store_put_integer(s, layout->layout_at, t->leaf_at);
    bool new_root = t->root_at == 0;
    int error = new_root ? add_root(s, t, leaf_before, (struct key){chunk_bytes, 0, 0, 0}) : 0;
    uint64_t bound = t->rows + (uint64_t)NODE_ENTRIES * layout->chunk_rows;
    struct entry entries[] = {{{chunk_bytes, 0, t->rows, 0}, t->leaf_at}, {{chunk_bytes, 0, bound, 0}, 0}};
    if (!error) error = add_entries(s, t->root_at, t->root_used, entries, 1);
    if (!error && new_root) error = store_put_integer(s, layout->layout_at, t->root_at);
    if (!error) t->root_used++;
    return error;
}

static bool is_filtered(const struct store *s, enum table which)
{
    return s->compressed && (int)which < BUFFERED_TABLES;
}

static struct key key_of(const struct store *s, enum table which, uint64_t row)
{
    const struct table_layout *layout = &table_layout[which];
    return (struct key){layout->chunk_rows * layout->row_bytes, is_filtered(s, which) ? NO_FILTER_USED : 0, row, 0};
}

/* Side by side at the end of the file; the last one may be filled later. */
static int put_chunks(struct store *s, enum table which, const void *rows, uint64_t n, struct entry *entries,
                      uint64_t chunks)
{
    const struct table_layout *layout = &table_layout[which];
    uint64_t at, chunk_bytes = (uint64_t)layout->chunk_rows * layout->row_bytes;
    int error = extend(s, chunks * chunk_bytes, &at);
    if (!error) error = write_at(s->fd, rows, n * layout->row_bytes, at);
    for (uint64_t i = 0; i < chunks; i++)
        entries[i] =
            (struct entry){key_of(s, which, s->table[which].rows + i * layout->chunk_rows), at + i * chunk_bytes};
    return error;
}

/* One full chunk that the filters make smaller, or as it is. */
static int put_filtered_chunk(struct store *s, enum table which, const void *rows, uint64_t row, struct entry *entry)
{
    const struct table_layout *layout = &table_layout[which];
    const void *bytes = rows;
    *entry = (struct entry){key_of(s, which, row), 0};
    uint64_t compressed = compress_chunk(rows, layout->chunk_rows, layout->row_bytes, &bytes);
    if (compressed) {
        entry->key.chunk_bytes = (uint32_t)compressed;
        entry->key.filter_mask = 0;
    } else {
        bytes = rows;
    }
    int error = extend(s, entry->key.chunk_bytes, &entry->child);
    return error ? error : write_at(s->fd, bytes, entry->key.chunk_bytes, entry->child);
}

/* Each full chunk by itself, then the rest. */
static int put_filtered(struct store *s, enum table which, const char *rows, uint64_t n, struct entry *entries,
                        uint64_t chunks)
{
    const struct table_layout *layout = &table_layout[which];
    uint64_t full = n / layout->chunk_rows, row = s->table[which].rows;
    int error = 0;
    for (uint64_t i = 0; !error && i < full; i++)
        error = put_filtered_chunk(s, which, rows + i * layout->chunk_rows * layout->row_bytes,
                                   row + i * layout->chunk_rows, &entries[i]);
    if (error || full == chunks) return error;
    error = put_chunks(s, which, rows + full * layout->chunk_rows * layout->row_bytes, n % layout->chunk_rows,
                       &entries[full], 1);
    entries[full].key.row = row + full * layout->chunk_rows;
    return error;
}

/* New chunks at the end of the table for the first of n rows: as many as the leaf has entries for. Sets `taken` to the
 * rows they hold. */
static int add_chunks(struct store *s, enum table which, const void *rows, uint64_t n, uint64_t *taken)
{
    struct table_state *t = &s->table[which];
    const struct table_layout *layout = &table_layout[which];
    bool new_leaf = t->leaf_at == 0 || t->leaf_used == NODE_ENTRIES;
    uint64_t leaf_before = t->leaf_at;
    if (new_leaf && t->root_used == NODE_ENTRIES) return EFBIG;
    int error = new_leaf ? add_leaf(s, t) : 0;
    uint64_t chunks = (n + layout->chunk_rows - 1) / layout->chunk_rows;
    if (chunks > NODE_ENTRIES - t->leaf_used) chunks = NODE_ENTRIES - t->leaf_used;
    *taken = chunks * layout->chunk_rows < n ? chunks * layout->chunk_rows : n;
    struct entry entries[NODE_ENTRIES + 1];
    if (!error)
        error = is_filtered(s, which) ? put_filtered(s, which, rows, *taken, entries, chunks)
                                      : put_chunks(s, which, rows, *taken, entries, chunks);
    if (error) return error;
    entries[chunks] = (struct entry){key_of(s, which, t->rows + chunks * layout->chunk_rows), 0};
    error = add_entries(s, t->leaf_at, t->leaf_used, entries, (uint32_t)chunks);
    if (error) return error;
    t->leaf_used += (uint32_t)chunks;
    t->chunk_at = entries[chunks - 1].child;
    return new_leaf ? add_leaf_to_tree(s, which, leaf_before) : 0;
}

/* Compress the last chunk, which several writes have filled, and give its first place back. Its entry changes by one
 * write inside a page, else the chunk stays as it is; so the file is valid before and after. */
static int filter_last_chunk(struct store *s, enum table which)
{
    struct table_state *t = &s->table[which];
    const struct table_layout *layout = &table_layout[which];
    uint64_t bytes = (uint64_t)layout->chunk_rows * layout->row_bytes;
    uint64_t entry_at = t->leaf_at + NODE_HEADER + (uint64_t)(t->leaf_used - 1) * ENTRY_BYTES;
    if (entry_at / PAGE != (entry_at + ENTRY_BYTES - 1) / PAGE) return 0;
    struct entry entry;
    char *rows = malloc(bytes);
    bool read = rows && pread(s->fd, rows, bytes, (off_t)t->chunk_at) == (ssize_t)bytes;
    uint64_t first = (t->rows - 1) / layout->chunk_rows * layout->chunk_rows;
    int error = read ? put_filtered_chunk(s, which, rows, first, &entry) : 0;
    free(rows);
    if (!read || error) return error;
    error = write_at(s->fd, &entry, sizeof entry, entry_at);
    if (!error) fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)t->chunk_at, (off_t)bytes);
    return error;
}

void store_finish(struct store *s)
{
    if (!s->compressed || s->finished) return;
    s->finished = true;
    for (int i = 0; i < BUFFERED_TABLES; i++)
        if (s->table[i].rows % table_layout[i].chunk_rows) filter_last_chunk(s, i);
}

int store_append(struct store *s, enum table which, const void *rows, uint64_t n)
{
    struct table_state *t = &s->table[which];
    const struct table_layout *layout = &table_layout[which];
    if (s->finished && n) return ESHUTDOWN;
    while (n) {
        uint64_t filled = t->rows % layout->chunk_rows, taken = layout->chunk_rows - filled;
        if (taken > n) taken = n;
        int error = filled ? write_at(s->fd, rows, taken * layout->row_bytes, t->chunk_at + filled * layout->row_bytes)
                           : add_chunks(s, which, rows, n, &taken);
        if (!error) error = store_put_integer(s, layout->length_at, t->rows + taken);
        if (error) return error;
        t->rows += taken;
        rows = (const char *)rows + taken * layout->row_bytes;
        n -= taken;
        if (filled && t->rows % layout->chunk_rows == 0 && is_filtered(s, which)) error = filter_last_chunk(s, which);
        if (error) return error;
    }
    return 0;
}

uint64_t store_bytes(const struct store *s)
{
    struct stat status;
    return s->fd >= 0 && fstat(s->fd, &status) == 0 ? (uint64_t)status.st_blocks * 512 : 0;
}
