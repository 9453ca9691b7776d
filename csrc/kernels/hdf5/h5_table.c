/* An HDF5 dataset of one dimension, in the oldest form, or of one filtered chunk: its rows, their type, and the chunks
 * where they lie. */
#include "hdf5/internal/h5.h"

#include <string.h>

enum { NODE_BYTES = 24, KEY_BYTES = 24, CHUNK_BYTES = 32, TYPE_BYTES = 8 };
enum { CONTIGUOUS = 1, CHUNKED = 2, HAS_MOST = 1, ONLY_FILTERED = 2, ONLY_CHUNK = 1 };

/* IV.A.2.b: version 1. */
bool h5_rows(struct h5 *f, const struct h5_message *dataspace, bool *single, uint64_t *rows)
{
    unsigned char b[24];
    uint64_t bytes = dataspace->size < sizeof b ? dataspace->size : sizeof b;
    if (bytes < 8 || !h5_read(f, dataspace->at, bytes, b) || b[0] != 1 || b[1] > 1 || b[2] > HAS_MOST) return false;
    *single = !b[1];
    *rows = 1;
    if (*single) return !b[2];
    if (bytes < 16 + 8u * b[2]) return false;
    *rows = h5_number(b + 8, 8);
    return *rows <= (b[2] ? h5_number(b + 16, 8) : H5_UNDEFINED);
}

/* IV.A.2.d */
uint32_t h5_value_bytes(struct h5 *f, uint64_t datatype, uint64_t room)
{
    unsigned char b[TYPE_BYTES];
    return room >= sizeof b && h5_read(f, datatype, sizeof b, b) ? (uint32_t)h5_number(b + 4, 4) : 0;
}

/* IV.A.2.f: version 2, and no value that would matter, for no row is missing. */
static bool is_fill_value(struct h5 *f, const struct h5_message *message)
{
    unsigned char b[8];
    if (message->size < sizeof b || !h5_read(f, message->at, sizeof b, b)) return false;
    bool known = b[0] == 2 && b[1] >= 1 && b[1] <= 3 && b[2] <= 2;
    return known && (!b[3] || (b[3] == 1 && h5_number(b + 4, 4) <= message->size - 8u));
}

/* IV.A.2.i of version 3.0 of the specification: version 4, a single filtered chunk. */
static bool read_only_chunk(struct h5 *f, const struct h5_message *message, struct h5_table *table)
{
    unsigned char b[48] = "";
    uint64_t bytes = message->size < sizeof b ? message->size : sizeof b;
    if (bytes < 5 || !h5_read(f, message->at, bytes, b)) return false;
    int width = b[4];
    if (b[1] != CHUNKED || b[2] != ONLY_FILTERED || b[3] != 2 || !width || width > 4) return false;
    const unsigned char *index = b + 5 + 2 * width;
    if (bytes < (uint64_t)(index - b) + 21 || index[0] != ONLY_CHUNK) return false;
    table->chunk_rows = (uint32_t)h5_number(b + 5, width);
    table->only_bytes = h5_number(index + 1, 8);
    table->only_mask = (uint32_t)h5_number(index + 9, 4);
    table->at = h5_number(index + 13, 8);
    return table->filters.size && table->only_bytes && table->only_bytes <= UINT32_MAX &&
           table->rows == table->chunk_rows && h5_number(b + 5 + width, width) == table->row_bytes;
}

/* IV.A.2.i: version 3. */
static bool read_layout(struct h5 *f, const struct h5_message *message, struct h5_table *table)
{
    unsigned char b[24] = "";
    uint64_t bytes = message->size < sizeof b ? message->size : sizeof b;
    if (bytes < 18 || !h5_read(f, message->at, bytes, b)) return false;
    if (b[0] == 4) return read_only_chunk(f, message, table);
    if (b[0] != 3) return false;
    if (b[1] == CONTIGUOUS) {
        table->at = h5_number(b + 2, 8);
        return !table->filters.size && h5_number(b + 10, 8) == table->rows * table->row_bytes;
    }
    table->at = h5_number(b + 3, 8);
    table->chunk_rows = (uint32_t)h5_number(b + 11, 4);
    uint64_t chunk_bytes = (uint64_t)table->chunk_rows * table->row_bytes;
    return b[1] == CHUNKED && b[2] == 2 && bytes >= 19 && chunk_bytes && chunk_bytes <= UINT32_MAX &&
           h5_number(b + 15, 4) == table->row_bytes;
}

/* IV.A.2, shared message, version 2, type 2: a datatype that has an object header of its own. */
static bool follow_type(struct h5 *f, struct h5_message *type)
{
    unsigned char b[10];
    struct h5_messages there;
    if (!type->shared) return true;
    if (type->size < sizeof b || !h5_read(f, type->at, sizeof b, b) || b[0] != 2 || b[1] != 2) return false;
    if (!h5_messages(f, h5_number(b + 2, 8), &there)) return false;
    const struct h5_message *found = h5_only(&there, H5_DATATYPE);
    if (!found || found->shared) return false;
    *type = *found;
    return true;
}

bool h5_table(struct h5 *f, uint64_t header, struct h5_table *table)
{
    struct h5_messages all;
    bool single;
    memset(table, 0, sizeof *table);
    if (!h5_messages(f, header, &all)) return false;
    const struct h5_message *space = h5_only(&all, H5_DATASPACE), *type = h5_only(&all, H5_DATATYPE),
                            *layout = h5_only(&all, H5_LAYOUT), *fill = h5_only(&all, H5_FILL_VALUE),
                            *filters = h5_only(&all, H5_FILTERS);
    if (!space || !type || !layout || !fill || h5_only(&all, H5_SYMBOL_TABLE)) return false;
    for (int i = 0; !filters && i < all.count; i++)
        if (all.of[i].type == H5_FILTERS) return false;
    if (!h5_rows(f, space, &single, &table->rows) || single || !is_fill_value(f, fill)) return false;
    table->datatype = *type;
    if (!follow_type(f, &table->datatype)) return false;
    type = &table->datatype;
    if (filters) table->filters = *filters;
    table->row_bytes = h5_value_bytes(f, type->at, type->size);
    if (!table->row_bytes || table->rows > INT64_MAX / table->row_bytes) return false;
    return read_layout(f, layout, table);
}

struct tree {
    struct h5 *file;
    const struct h5_table *table;
    struct h5_chunks *chunks;
    uint64_t next; /* row of the next chunk */
};

struct key {
    uint32_t bytes, mask;
    uint64_t row, element;
};

/* III.A.1: the key of a chunk, which begins where a chunk does. */
static bool read_key(struct tree *t, const unsigned char *b, struct key *key)
{
    *key = (struct key){(uint32_t)h5_number(b, 4), (uint32_t)h5_number(b + 4, 4), h5_number(b + 8, 8),
                        h5_number(b + 16, 8)};
    return key->row % t->table->chunk_rows == 0 && key->element % t->table->row_bytes == 0;
}

/* Chunks behind the last row are none of the table's yet. */
static bool note_chunk(struct tree *t, const struct key *key, uint64_t at)
{
    struct h5_chunks *c = t->chunks;
    bool plain = !t->table->filters.size;
    if (plain && key->bytes != (uint64_t)t->table->chunk_rows * t->table->row_bytes) return false;
    if (key->row != t->next || (key->mask && !plain)) return false;
    t->next += t->table->chunk_rows;
    if (c->found == c->n) return true;
    c->at[c->found] = (int64_t)at;
    c->bytes[c->found++] = key->bytes;
    return true;
}

/* All chunks of a node lie between its first key and its last, as the search for one expects. */
static bool read_table_node(struct tree *t, uint64_t at, int level)
{
    unsigned char b[CHUNK_BYTES + KEY_BYTES];
    uint64_t room = NODE_BYTES + (uint64_t)t->file->chunks_most * CHUNK_BYTES + KEY_BYTES;
    if (!h5_has(t->file, at, room) || !h5_read(t->file, at, NODE_BYTES, b)) return false;
    uint64_t used = h5_number(b + 6, 2);
    if (memcmp(b, "TREE", 4) || b[4] != 1 || b[5] != level || !used || used > t->file->chunks_most) return false;
    for (uint64_t i = 0; i < used; i++) {
        struct key left, right;
        if (!h5_read(t->file, at + NODE_BYTES + i * CHUNK_BYTES, sizeof b, b)) return false;
        if (!read_key(t, b, &left) || !read_key(t, b + CHUNK_BYTES, &right)) return false;
        if (left.row != t->next || left.element) return false;
        uint64_t child = h5_number(b + KEY_BYTES, 8);
        if (!(level ? read_table_node(t, child, level - 1) : note_chunk(t, &left, child))) return false;
        uint64_t last = t->next - t->table->chunk_rows;
        if (right.row < last || (right.row == last && !right.element)) return false;
    }
    return true;
}

bool h5_chunks(struct h5 *f, const struct h5_table *table, struct h5_chunks *chunks)
{
    unsigned char b[NODE_BYTES];
    struct tree tree = {f, table, chunks, 0};
    chunks->found = 0;
    if (table->only_bytes) {
        if (table->only_mask || chunks->n != 1) return false;
        chunks->at[0] = (int64_t)table->at;
        chunks->bytes[0] = (uint32_t)table->only_bytes;
        chunks->found = 1;
        return true;
    }
    if (!h5_read(f, table->at, NODE_BYTES, b) || b[5] >= H5_MOST_LEVELS) return false;
    return read_table_node(&tree, table->at, b[5]) && chunks->found == chunks->n;
}
