/* The members of an HDF5 group of the oldest form, in order of name: a tree of symbol tables and a heap of names. */
#include "hdf5/internal/h5.h"

#include <string.h>

enum { HEAP_BYTES = 32, NODE_BYTES = 24, SYMBOLS_BYTES = 8, ENTRY_BYTES = 40, NAME_BYTES = 64, NOTHING_FREE = 1 };

struct walk {
    struct h5 *file;
    uint64_t names, names_bytes; /* the heap's data */
    char last[NAME_BYTES];       /* name, "" before the first */
    h5_note *note;
    void *context;
};

/* III.D: a name ends with a zero byte inside of the heap. */
static bool name_at(struct walk *w, uint64_t offset, char name[NAME_BYTES])
{
    if (offset >= w->names_bytes) return false;
    uint64_t room = w->names_bytes - offset;
    if (room > NAME_BYTES) room = NAME_BYTES;
    return h5_read(w->file, w->names + offset, room, name) && memchr(name, 0, room);
}

/* HDF5 refuses a heap whose list of free blocks leaves it. */
static bool free_blocks(struct walk *w, uint64_t at)
{
    unsigned char b[16];
    for (uint64_t most = w->names_bytes / sizeof b; at != NOTHING_FREE; most--) {
        if (!most || at >= w->names_bytes || !h5_read(w->file, w->names + at, sizeof b, b)) return false;
        if (h5_number(b + 8, 8) > w->names_bytes - at) return false;
        at = h5_number(b, 8);
    }
    return true;
}

static bool open_heap(struct walk *w, uint64_t heap)
{
    unsigned char b[HEAP_BYTES];
    if (!h5_read(w->file, heap, sizeof b, b) || memcmp(b, "HEAP", 4) || b[4]) return false;
    w->names_bytes = h5_number(b + 8, 8);
    w->names = h5_number(b + 24, 8);
    return h5_has(w->file, w->names, w->names_bytes) && free_blocks(w, h5_number(b + 16, 8));
}

/* III.B: entries of hard links, which the search for a name finds where they stand: in strict order. */
static bool symbols(struct walk *w, uint64_t at)
{
    unsigned char b[ENTRY_BYTES];
    if (!h5_has(w->file, at, SYMBOLS_BYTES + (uint64_t)w->file->symbols_most * ENTRY_BYTES)) return false;
    if (!h5_read(w->file, at, SYMBOLS_BYTES, b) || memcmp(b, "SNOD", 4) || b[4] != 1) return false;
    uint64_t count = h5_number(b + 6, 2);
    if (!count || count > w->file->symbols_most) return false;
    for (uint64_t i = 0; i < count; i++) {
        char name[NAME_BYTES] = "";
        if (!h5_read(w->file, at + SYMBOLS_BYTES + i * ENTRY_BYTES, ENTRY_BYTES, b)) return false;
        if (h5_number(b + 16, 4) || !name_at(w, h5_number(b, 8), name)) return false;
        if (strcmp(w->last, name) >= 0) return false;
        memcpy(w->last, name, sizeof name);
        if (!w->note(w->context, name, h5_number(b + 8, 8))) return false;
    }
    return true;
}

/* The key on the right of a child is not less than its last name, that on its left less than the first. */
static bool pass_key(struct walk *w, uint64_t offset)
{
    char key[NAME_BYTES] = "";
    if (!name_at(w, offset, key) || strcmp(w->last, key) > 0) return false;
    memcpy(w->last, key, sizeof key);
    return true;
}

/* III.A.1: a version 1 tree of type 0. */
static bool node(struct walk *w, uint64_t at, int level)
{
    unsigned char b[NODE_BYTES];
    if (!h5_has(w->file, at, NODE_BYTES + 16 * (uint64_t)w->file->group_most + 8)) return false;
    if (!h5_read(w->file, at, sizeof b, b) || memcmp(b, "TREE", 4) || b[4] || b[5] != level) return false;
    uint64_t used = h5_number(b + 6, 2);
    if (!used || used > w->file->group_most) return false;
    for (uint64_t i = 0; i < used; i++) {
        if (!h5_read(w->file, at + NODE_BYTES + 16 * i, sizeof b, b)) return false;
        if (!pass_key(w, h5_number(b, 8))) return false;
        uint64_t child = h5_number(b + 8, 8);
        bool whole = level ? node(w, child, level - 1) : symbols(w, child);
        if (!whole || !pass_key(w, h5_number(b + 16, 8))) return false;
    }
    return true;
}

bool h5_members(struct h5 *f, const struct h5_message *symbol_table, h5_note *note, void *context)
{
    unsigned char b[NODE_BYTES];
    struct walk w = {.file = f, .note = note, .context = context};
    if (symbol_table->size < 16 || !h5_read(f, symbol_table->at, 16, b)) return false;
    uint64_t tree = h5_number(b, 8);
    if (!open_heap(&w, h5_number(b + 8, 8)) || !h5_read(f, tree, NODE_BYTES, b)) return false;
    return b[5] < H5_MOST_LEVELS && node(&w, tree, b[5]);
}
