#define _GNU_SOURCE
#define STORE_TEMPLATE /* this file alone takes the template's bytes */
#include "record/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/signals.h"
#include "record/compress.h"
#include "record/internal/btree.h"

enum { RESERVE_SHARE = 8, MOST_RESERVED = 8 << 20 }; /* a file ends so much of its size behind what is used */

enum { HURRY_S = 1 };

static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static struct held_signals held; /* by the thread that has the lock */

static __thread struct timespec deadline __attribute__((tls_model("initial-exec"))); /* of a thread in a hurry */

void store_hurry(bool hurried)
{
    deadline = (struct timespec){0, 0};
    if (!hurried) return;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += HURRY_S;
}

bool store_begin(void)
{
    if (deadline.tv_sec ? pthread_mutex_timedlock(&lock, &deadline) : pthread_mutex_lock(&lock)) return false;
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
    uint32_t rows = COMPRESSED_CHUNK_ROWS;
    int error = 0;
    for (int i = 0; !error && i < BUFFERED_TABLES; i++) {
        error = write_at(s->fd, &type, sizeof type, table_layout[i].filters_at);
        if (!error) error = write_at(s->fd, &rows, sizeof rows, table_layout[i].chunk_at);
    }
    return error;
}

/* A file's name until it is valid: a process may be killed at any moment. */
static bool unfinished_name(char unfinished[PATH_MAX], const char *path)
{
    return snprintf(unfinished, PATH_MAX, "%s.tmp", path) < PATH_MAX;
}

static void discard(struct store *s, const char *unfinished)
{
    close(s->fd);
    unlink(unfinished);
    s->fd = -1;
}

int store_create(struct store *s, const char *path, bool compressed)
{
    char unfinished[PATH_MAX];
    memset(s, 0, sizeof *s);
    s->fd = -1;
    s->compressed = compressed;
    if (access(path, F_OK) == 0) return EEXIST;
    if (!unfinished_name(unfinished, path)) return ENAMETOOLONG;
    int error = open_file(s, unfinished, O_CREAT | O_TRUNC);
    if (error) return error;
    s->end = TEMPLATE_BYTES;
    error = ftruncate(s->fd, TEMPLATE_BYTES) ? errno : 0;
    for (size_t i = 0; !error && i < sizeof template_segments / sizeof template_segments[0]; i++) {
        const struct segment *g = &template_segments[i];
        error = write_at(s->fd, template_bytes + g->from, g->bytes, g->at);
    }
    if (!error && compressed) error = declare_filters(s);
    if (error) discard(s, unfinished);
    return error;
}

int store_publish(struct store *s, const char *path)
{
    char unfinished[PATH_MAX];
    int error = unfinished_name(unfinished, path) ? 0 : ENAMETOOLONG;
    if (!error && rename(unfinished, path)) error = errno;
    if (error) discard(s, unfinished);
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

static bool is_filtered(const struct store *s, enum table which)
{
    return s->compressed && (int)which < BUFFERED_TABLES;
}

static uint32_t chunk_rows(const struct store *s, enum table which)
{
    return is_filtered(s, which) ? COMPRESSED_CHUNK_ROWS : table_layout[which].chunk_rows;
}

static uint64_t chunk_bytes(const struct store *s, enum table which)
{
    return (uint64_t)chunk_rows(s, which) * table_layout[which].row_bytes;
}

static int reserve_file(struct store *s, uint64_t end)
{
    int error = ftruncate(s->fd, (off_t)end) ? errno : store_put_integer(s, AT_END_OF_FILE, end);
    if (!error) s->reserved = end;
    return error;
}

/* Room for a block of metadata or data at the end of the file; sparse until it is written. To move the end of a file
 * takes as long as several small writes: it moves ahead, as far as there is no limit to the size of files. */
static int extend(struct store *s, uint64_t bytes, uint64_t *at)
{
    if (s->paged) s->end = (s->end + PAGE - 1) / PAGE * PAGE;
    uint64_t end = s->end + bytes, ahead = end / RESERVE_SHARE < MOST_RESERVED ? end / RESERVE_SHARE : MOST_RESERVED;
    int error = end <= s->reserved ? 0 : reserve_file(s, end + ahead);
    if (error) error = reserve_file(s, end);
    *at = s->end;
    if (!error) s->end = end;
    return error;
}

/* The address before the size: readers refuse a file that is shorter than it says. */
static void give_back_reserve(struct store *s)
{
    if (s->reserved <= s->end || store_put_integer(s, AT_END_OF_FILE, s->end)) return;
    s->reserved = s->end;
    (void)!ftruncate(s->fd, (off_t)s->end); /* a longer file is as good */
}

/* Append n entries to a node: first they, with the key that ends the last one, then the count that makes them exist. */
static int add_entries(struct store *s, uint64_t node_at, uint32_t used, const struct entry *entries, uint32_t n)
{
    int error =
        write_at(s->fd, entries, n * sizeof *entries + KEY_BYTES, node_at + NODE_HEADER + (uint64_t)used * ENTRY_BYTES);
    uint16_t count = (uint16_t)(used + n);
    return error ? error : write_at(s->fd, &count, sizeof count, node_at + AT_USED);
}

/* An empty node at the end of the file. None of its entries lies across two pages: one can be changed at one instant.
 */
static int add_btree_node(struct store *s, uint8_t level, uint64_t left, uint64_t *at)
{
    struct node_header node = {{'T', 'R', 'E', 'E'}, 1, level, 0, left, UNDEFINED_ADDRESS};
    int error = extend(s, NODE_BYTES + ENTRY_BYTES, at);
    *at = (*at + NODE_HEADER + ENTRY_BYTES - 1) / ENTRY_BYTES * ENTRY_BYTES - NODE_HEADER;
    return error ? error : write_at(s->fd, &node, sizeof node, *at);
}

static int add_leaf(struct store *s, struct table_state *t)
{
    uint64_t at;
    int error = add_btree_node(s, 0, t->leaf_at ? t->leaf_at : UNDEFINED_ADDRESS, &at);
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
    int error = add_btree_node(s, 1, UNDEFINED_ADDRESS, &t->root_at);
    if (!error) error = add_entries(s, t->root_at, 0, entries, 1);
    t->root_used = 1;
    return error;
}

/* Return the key that stands before the entry of the chunk that begins with `row`, as it is. */
static struct key chunk_key(const struct store *s, enum table which, uint64_t row)
{
    return (struct key){(uint32_t)chunk_bytes(s, which), is_filtered(s, which) ? NO_FILTER_USED : 0, row, 0};
}

/* The newest leaf is new, and the one before it is full: make it known. */
static int add_leaf_to_tree(struct store *s, enum table which, uint64_t leaf_before)
{
    struct table_state *t = &s->table[which];
    uint64_t layout_at = table_layout[which].layout_at;
    if (!leaf_before) return store_put_integer(s, layout_at, t->leaf_at);
    bool new_root = t->root_at == 0;
    int error = new_root ? add_root(s, t, leaf_before, chunk_key(s, which, 0)) : 0;
    uint64_t bound = t->rows + (uint64_t)NODE_ENTRIES * chunk_rows(s, which);
    struct entry entries[] = {{chunk_key(s, which, t->rows), t->leaf_at}, {chunk_key(s, which, bound), 0}};
    if (!error) error = add_entries(s, t->root_at, t->root_used, entries, 1);
    if (!error && new_root) error = store_put_integer(s, layout_at, t->root_at);
    if (!error) t->root_used++;
    return error;
}

/* Where there is room already, then side by side at the end of the file; the last one may be filled later. */
static int put_chunks(struct store *s, enum table which, const char *rows, uint64_t n, struct entry *entries,
                      uint64_t chunks)
{
    struct table_state *t = &s->table[which];
    uint64_t at = 0, bytes = chunk_bytes(s, which), left = n * table_layout[which].row_bytes;
    uint64_t in_spare = chunks < t->spares ? chunks : t->spares;
    int error = in_spare < chunks ? extend(s, (chunks - in_spare) * bytes, &at) : 0;
    for (uint64_t i = 0; !error && i < chunks; i++) {
        bool spare = i < in_spare;
        uint64_t place = spare ? t->spare_at[--t->spares] : at + (i - in_spare) * bytes;
        uint64_t written = spare && left > bytes ? bytes : left; /* all the others at once */
        if (spare || i == in_spare) error = write_at(s->fd, rows + i * bytes, written, place);
        if (spare) left -= written;
        entries[i] = (struct entry){chunk_key(s, which, t->rows + i * chunk_rows(s, which)), place};
    }
    return error;
}

/* One full chunk that the filters make smaller, or as it is. */
static int put_filtered_chunk(struct store *s, enum table which, const void *rows, uint64_t row, struct entry *entry)
{
    const void *bytes = rows;
    *entry = (struct entry){chunk_key(s, which, row), 0};
    uint64_t compressed = compress_chunk(rows, chunk_rows(s, which), table_layout[which].row_bytes, &bytes);
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
    uint64_t of_chunk = chunk_rows(s, which), full = n / of_chunk, row = s->table[which].rows;
    int error = 0;
    for (uint64_t i = 0; !error && i < full; i++)
        error = put_filtered_chunk(s, which, rows + i * chunk_bytes(s, which), row + i * of_chunk, &entries[i]);
    if (error || full == chunks) return error;
    error = put_chunks(s, which, rows + full * chunk_bytes(s, which), n % of_chunk, &entries[full], 1);
    entries[full].key.row = row + full * of_chunk;
    return error;
}

/* New chunks at the end of the table for the first of n rows: as many as the leaf has entries for. Sets `taken` to the
 * rows they hold. */
static int add_chunks(struct store *s, enum table which, const void *rows, uint64_t n, uint64_t *taken)
{
    struct table_state *t = &s->table[which];
    bool new_leaf = t->leaf_at == 0 || t->leaf_used == NODE_ENTRIES;
    uint64_t leaf_before = t->leaf_at, of_chunk = chunk_rows(s, which);
    if (new_leaf && t->root_used == NODE_ENTRIES) return EFBIG;
    int error = new_leaf ? add_leaf(s, t) : 0;
    uint64_t chunks = (n + of_chunk - 1) / of_chunk;
    if (chunks > NODE_ENTRIES - t->leaf_used) chunks = NODE_ENTRIES - t->leaf_used;
    *taken = chunks * of_chunk < n ? chunks * of_chunk : n;
    struct entry entries[NODE_ENTRIES + 1];
    if (!error)
        error = is_filtered(s, which) ? put_filtered(s, which, rows, *taken, entries, chunks)
                                      : put_chunks(s, which, rows, *taken, entries, chunks);
    if (error) return error;
    entries[chunks] = (struct entry){chunk_key(s, which, t->rows + chunks * of_chunk), 0};
    error = add_entries(s, t->leaf_at, t->leaf_used, entries, (uint32_t)chunks);
    if (error) return error;
    t->leaf_used += (uint32_t)chunks;
    t->chunk_at = entries[chunks - 1].child;
    return new_leaf ? add_leaf_to_tree(s, which, leaf_before) : 0;
}

/* Compress the last chunk, which several writes have filled, from its `used` rows. Its entry changes by one write, so
 * the file is valid before and after; then the place where it was is free for the next one. */
static int filter_last_chunk(struct store *s, enum table which, uint64_t used)
{
    struct table_state *t = &s->table[which];
    uint64_t bytes = chunk_bytes(s, which), used_bytes = used * table_layout[which].row_bytes;
    struct entry entry;
    char *rows = calloc(1, bytes);
    bool read = rows && pread(s->fd, rows, used_bytes, (off_t)t->chunk_at) == (ssize_t)used_bytes;
    int error = read ? put_filtered_chunk(s, which, rows, t->rows - used, &entry) : 0;
    free(rows);
    if (!read || error) return error;
    error = write_at(s->fd, &entry, sizeof entry, t->leaf_at + NODE_HEADER + (t->leaf_used - 1) * ENTRY_BYTES);
    if (!error && t->spares < MOST_SPARE) t->spare_at[t->spares++] = t->chunk_at;
    return error;
}

static void filter_last_chunks(struct store *s)
{
    for (int i = 0; i < BUFFERED_TABLES; i++) {
        uint64_t rest = s->table[i].rows % chunk_rows(s, i);
        if (rest) filter_last_chunk(s, i, rest);
    }
    store_trim(s, 0);
}

void store_finish(struct store *s)
{
    if (s->finished) return;
    s->finished = s->compressed;
    if (s->compressed) filter_last_chunks(s);
    give_back_reserve(s);
}

int store_append(struct store *s, enum table which, const void *rows, uint64_t n)
{
    struct table_state *t = &s->table[which];
    uint64_t row_bytes = table_layout[which].row_bytes;
    if (s->finished && n) return ESHUTDOWN;
    while (n) {
        uint64_t filled = t->rows % chunk_rows(s, which), taken = chunk_rows(s, which) - filled;
        if (taken > n) taken = n;
        int error = filled ? write_at(s->fd, rows, taken * row_bytes, t->chunk_at + filled * row_bytes)
                           : add_chunks(s, which, rows, n, &taken);
        if (!error) error = store_put_integer(s, table_layout[which].length_at, t->rows + taken);
        if (error) return error;
        t->rows += taken;
        rows = (const char *)rows + taken * row_bytes;
        n -= taken;
        if (filled && t->rows % chunk_rows(s, which) == 0 && is_filtered(s, which))
            error = filter_last_chunk(s, which, chunk_rows(s, which));
        if (error) return error;
    }
    return 0;
}

static uint64_t spare_bytes(const struct store *s)
{
    uint64_t bytes = 0;
    for (int i = 0; i < TABLES; i++) bytes += s->table[i].spares * chunk_bytes(s, i);
    return bytes;
}

int store_trim(struct store *s, uint64_t bytes)
{
    for (int i = 0; i < TABLES; i++)
        for (struct table_state *t = &s->table[i]; t->spares && spare_bytes(s) > bytes; t->spares--)
            if (fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)t->spare_at[t->spares - 1],
                          (off_t)chunk_bytes(s, i)))
                return errno;
    return 0;
}

int store_drop_chunk(struct store *s, enum table which, uint64_t chunk)
{
    struct table_state *t = &s->table[which];
    uint64_t entry_at, at;
    int error = t->hole_at ? 0 : extend(s, chunk_bytes(s, which), &t->hole_at);
    if (!error) error = store_find_chunk(s, which, chunk, &entry_at, &at);
    if (!error) error = store_put_integer(s, entry_at, t->hole_at);
    if (!error && t->spares == MOST_SPARE) error = store_trim(s, 0);
    if (!error) t->spare_at[t->spares++] = at;
    return error;
}

uint64_t store_bytes(const struct store *s)
{
    struct stat status;
    uint64_t spare = spare_bytes(s), taken = s->fd < 0 || fstat(s->fd, &status) ? 0 : (uint64_t)status.st_blocks * 512;
    return taken > spare ? taken - spare : 0;
}

int store_hold_room(const struct store *s, uint64_t bytes)
{
    struct stat status;
    if (s->fd < 0 || fstat(s->fd, &status)) return 0;
    if (fallocate(s->fd, FALLOC_FL_KEEP_SIZE, status.st_size, (off_t)bytes) == 0) return 0;
    return errno == ENOSPC || errno == EDQUOT ? errno : 0;
}

void store_give_room_back(const struct store *s)
{
    struct stat status;
    if (s->fd >= 0 && fstat(s->fd, &status) == 0) (void)!ftruncate(s->fd, status.st_size);
}

void store_take_back(struct store *s, enum table which, uint64_t rows)
{
    if (rows < s->table[which].rows && store_put_integer(s, table_layout[which].length_at, rows) == 0)
        s->table[which].rows = rows;
}
