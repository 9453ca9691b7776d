/* The attributes and tables of a rank file, in a few system calls. */
#include "hdf5/rank_file.h"
#include "hdf5/internal/h5.h"
#include "hdf5/internal/prefetch.h"
#include "hdf5/internal/read_whole.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_NAME = 255, ALIGNED = 8 };

struct reading {
    struct h5 file;
    struct rank_file *into;
    const char *const *names;
    int64_t n, whole;
    bool no_room;
};

/* Room for more bytes behind those that are used. Where it is short, what follows counts only. */
static unsigned char *grow_found(struct reading *r, struct found_bytes *to, uint64_t bytes)
{
    unsigned char *at = to->bytes + to->used;
    if (bytes > (uint64_t)(to->room - to->used)) {
        r->no_room = true;
        return NULL;
    }
    to->used += (int64_t)bytes;
    return at;
}

static void put_found(struct reading *r, struct found_bytes *to, const void *bytes, uint64_t n)
{
    unsigned char *at = grow_found(r, to, n);
    if (at) memcpy(at, bytes, n);
}

static bool put_stored(struct reading *r, struct found_bytes *to, uint64_t at, uint64_t bytes)
{
    if (!h5_has(&r->file, at, bytes)) return false; /* or room would be made for what is not there */
    unsigned char *into = grow_found(r, to, bytes);
    return into && h5_read(&r->file, at, bytes, into);
}

/* A part of the shape, with its length before it. */
static void put_part(struct reading *r, const void *part, uint16_t bytes)
{
    put_found(r, &r->into->shape, &bytes, sizeof bytes);
    put_found(r, &r->into->shape, part, bytes);
}

static bool put_stored_part(struct reading *r, uint64_t at, uint16_t bytes)
{
    put_found(r, &r->into->shape, &bytes, sizeof bytes);
    return !bytes || put_stored(r, &r->into->shape, at, bytes);
}

static void put_found_name(struct reading *r, char kind, const char *name)
{
    put_found(r, &r->into->shape, &kind, 1);
    put_part(r, name, (uint16_t)strlen(name));
}

static uint64_t padded(uint64_t bytes)
{
    return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* IV.A.2.m: version 1. */
static bool read_attribute(struct reading *r, const struct h5_message *message)
{
    unsigned char b[8];
    char name[MOST_NAME + 1] = "";
    if (message->size < sizeof b || !h5_read(&r->file, message->at, sizeof b, b) || b[0] != 1 || b[1]) return false;
    uint16_t name_bytes = (uint16_t)h5_number(b + 2, 2), type_bytes = (uint16_t)h5_number(b + 4, 2);
    struct h5_message space = {0, H5_DATASPACE, (uint16_t)h5_number(b + 6, 2), false};
    uint64_t type_at = message->at + sizeof b + padded(name_bytes);
    space.at = type_at + padded(type_bytes);
    uint64_t value_at = space.at + padded(space.size), end = message->at + message->size, rows;
    bool single;
    if (value_at > end || !name_bytes || name_bytes > MOST_NAME) return false;
    if (!h5_read(&r->file, message->at + sizeof b, name_bytes, name) || strlen(name) + 1 != name_bytes) return false;
    uint64_t value_bytes = h5_value_bytes(&r->file, type_at, type_bytes);
    if (!value_bytes || !h5_rows(&r->file, &space, &single, &rows) || rows > (end - value_at) / value_bytes)
        return false;
    put_found_name(r, 'A', name);
    if (!put_stored_part(r, type_at, type_bytes)) return false;
    put_part(r, &rows, single ? 0 : sizeof rows);
    return put_stored(r, &r->into->values, value_at, rows * value_bytes);
}

/* The places of the chunks stay in `data`; their sizes need no room of the caller's. */
static bool find_chunks(struct reading *r, const struct h5_table *table, struct h5_chunks *chunks)
{
    chunks->n = (table->rows + table->chunk_rows - 1) / table->chunk_rows;
    uint64_t most = r->file.end / ALIGNED; /* each has an entry in the file */
    if (chunks->n > most) return false;
    chunks->at = (int64_t *)grow_found(r, &r->into->data, chunks->n * sizeof *chunks->at);
    if (!chunks->at) return false;
    chunks->bytes = malloc(chunks->n * sizeof *chunks->bytes);
    return chunks->bytes && h5_chunks(&r->file, table, chunks);
}

/* All rows in the place of their chunks' addresses, or of a filtered table its one chunk. */
static bool read_chunks(struct reading *r, const struct h5_table *table, int64_t begin, const struct h5_chunks *chunks)
{
    struct found_bytes *data = &r->into->data;
    uint64_t left = table->rows * table->row_bytes;
    if (table->filters.size && chunks->n != 1) return false;
    for (uint64_t k = 0; k < chunks->n; k++) {
        uint64_t bytes = table->filters.size || chunks->bytes[k] < left ? chunks->bytes[k] : left;
        if (!put_stored(r, data, (uint64_t)chunks->at[k], bytes)) return false;
        left -= bytes < left ? bytes : left;
    }
    int64_t skipped = (int64_t)(chunks->n * sizeof *chunks->at);
    memmove(data->bytes + begin, data->bytes + begin + skipped, (size_t)(data->used - begin - skipped));
    data->used -= skipped;
    return true;
}

/* The first and the last row, behind the places of their chunks. */
static bool read_ends(struct reading *r, const struct h5_table *table, const struct h5_chunks *chunks)
{
    const uint64_t rows[] = {0, table->rows - 1};
    for (int i = 0; i < 2; i++) {
        uint64_t at =
            (uint64_t)chunks->at[rows[i] / table->chunk_rows] + rows[i] % table->chunk_rows * table->row_bytes;
        unsigned char *into = grow_found(r, &r->into->data, table->row_bytes);
        if (!into || !h5_has(&r->file, at, table->row_bytes)) return false;
        if (read_whole(r->file.fd, into, table->row_bytes, (int64_t)at) != 1) return false;
    }
    return true;
}

/* All rows lie together: where, and both ends. */
static bool read_one_piece(struct reading *r, const struct h5_table *table, struct found_table *found)
{
    struct h5_table piece = *table;
    struct h5_chunks chunks = {.n = 1, .at = (int64_t *)grow_found(r, &r->into->data, sizeof *chunks.at)};
    if (!chunks.at || table->rows > UINT32_MAX) return false;
    chunks.at[0] = (int64_t)table->at;
    piece.chunk_rows = (uint32_t)table->rows;
    found->chunk_rows = (int64_t)table->rows;
    return h5_has(&r->file, table->at, table->rows * table->row_bytes) && read_ends(r, &piece, &chunks);
}

static bool all_lie_in_file(const struct h5 *file, const struct h5_chunks *chunks)
{
    for (uint64_t k = 0; k < chunks->n; k++)
        if (!h5_has(file, (uint64_t)chunks->at[k], chunks->bytes[k])) return false;
    return true;
}

/* The places of chunks that are filtered, and the bytes of each. Where they cannot be told, HDF5 reads the table. */
static bool find_filtered(struct reading *r, const struct h5_table *table, struct found_table *found)
{
    struct found_bytes *data = &r->into->data;
    struct h5_chunks chunks = {0};
    bool known = find_chunks(r, table, &chunks) && all_lie_in_file(&r->file, &chunks);
    int64_t *bytes = known ? (int64_t *)grow_found(r, data, chunks.n * sizeof *bytes) : NULL;
    for (uint64_t k = 0; bytes && k < chunks.n; k++) bytes[k] = chunks.bytes[k];
    free(chunks.bytes);
    found->filtered = bytes != NULL;
    found->chunk_rows = bytes ? table->chunk_rows : 0;
    if (!bytes) data->used = found->at;
    return !r->no_room;
}

static bool read_table_rows(struct reading *r, const struct h5_table *table, struct found_table *into, bool whole)
{
    struct found_bytes *data = &r->into->data;
    struct h5_chunks chunks = {0};
    int64_t begin = data->used;
    if (!table->chunk_rows && whole) return put_stored(r, data, table->at, table->rows * table->row_bytes);
    if (!table->chunk_rows) return read_one_piece(r, table, into);
    if (table->filters.size && !whole) return find_filtered(r, table, into);
    if (whole) into->chunk_rows = table->chunk_rows;
    bool found = find_chunks(r, table, &chunks) &&
                 (whole ? read_chunks(r, table, begin, &chunks) : read_ends(r, table, &chunks));
    free(chunks.bytes);
    return found;
}

static bool read_table(struct reading *r, int64_t number, uint64_t header)
{
    struct found_bytes *data = &r->into->data;
    struct found_table *found = &r->into->tables[number];
    struct h5_table table;
    if (found->rows >= 0) return false; /* another table of this name */
    if (!h5_table(&r->file, header, &table) ||
        !grow_found(r, data, padded((uint64_t)data->used) - (uint64_t)data->used))
        return false;
    put_found_name(r, 'T', r->names[number]);
    if (!put_stored_part(r, table.datatype.at, table.datatype.size) ||
        !put_stored_part(r, table.filters.at, table.filters.size))
        return false;
    *found = (struct found_table){(int64_t)table.rows, table.filters.size ? 0 : table.chunk_rows, data->used, 0, 0};
    if (table.rows && !read_table_rows(r, &table, found, number < r->whole)) return false;
    found->bytes = data->used - found->at;
    return true;
}

/* Members that nobody asked for are left alone. */
static bool note_member(void *context, const char *name, uint64_t header)
{
    struct reading *r = context;
    for (int64_t i = 0; i < r->n; i++)
        if (!strcmp(name, r->names[i])) return read_table(r, i, header);
    return true;
}

static bool read_rank_group(struct reading *r, int fd, uint64_t bytes, uint64_t header)
{
    struct h5_messages group;
    if (!h5_open(&r->file, fd, bytes) || !h5_messages(&r->file, header ? header : r->file.root, &group)) return false;
    for (int i = 0; i < group.count; i++)
        if (group.of[i].type == H5_ATTRIBUTE && !read_attribute(r, &group.of[i])) return false;
    return h5_members(&r->file, &group, note_member, r);
}

enum rank_file_answer rank_file_read(const char *path, int64_t group, const char *const *names, int64_t n,
                                     int64_t whole, struct rank_file *into)
{
    struct reading r; /* the blocks in it need no value */
    struct stat status;
    r.into = into;
    r.names = names;
    r.n = n;
    r.whole = whole;
    r.no_room = false;
    into->shape.used = into->values.used = into->data.used = 0;
    for (int64_t i = 0; i < n; i++) into->tables[i] = (struct found_table){-1, 0, 0, 0, 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return RANK_FILE_OTHER;
    bool read = !fstat(fd, &status);
    if (read && !group) prefetch_small(fd, (uint64_t)status.st_size);
    read = read && read_rank_group(&r, fd, (uint64_t)status.st_size, (uint64_t)group);
    close(fd);
    if (r.no_room) return RANK_FILE_NO_ROOM;
    if (!read) return RANK_FILE_OTHER;
    into->modified_ns = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
    return RANK_FILE_READ;
}
