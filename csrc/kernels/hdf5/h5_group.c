/* The members of an HDF5 group: of the oldest form, in order of name, a tree of symbol tables and a heap of names; of a
   later one, links in its header. */
#include "hdf5/internal/h5.h"

#include <string.h>

enum { HEAP_BYTES = 32, NODE_BYTES = 24, SYMBOLS_BYTES = 8, ENTRY_BYTES = 40, NAME_BYTES = 64, NOTHING_FREE = 1 };
enum { GROUP_CACHED = 1 }; /* in an entry; more is no hard link */

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
        if (h5_number(b + 16, 4) > GROUP_CACHED || !name_at(w, h5_number(b, 8), name)) return false;
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
static bool read_group_node(struct walk *w, uint64_t at, int level)
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
        bool whole = level ? read_group_node(w, child, level - 1) : symbols(w, child);
        if (!whole || !pass_key(w, h5_number(b + 16, 8))) return false;
    }
    return true;
}

/* IV.A.2.c: version 0, and no links but those in the header. */
static bool are_all_here(struct h5 *f, const struct h5_message *link_info)
{
    unsigned char b[18];
    return link_info->size >= sizeof b && h5_read(f, link_info->at, sizeof b, b) && !b[0] && !b[1] &&
           h5_number(b + 2, 8) == H5_UNDEFINED && h5_number(b + 10, 8) == H5_UNDEFINED;
}

/* IV.A.2.g: version 1, a hard link whose name is ASCII and has a length of one byte. */
static bool note_link(struct h5 *f, const struct h5_message *link, h5_note *note, void *context)
{
    unsigned char b[3 + NAME_BYTES + 8];
    char name[NAME_BYTES] = "";
    uint64_t bytes = link->size < sizeof b ? link->size : sizeof b;
    if (bytes < 3 || !h5_read(f, link->at, bytes, b) || b[0] != 1 || b[1] || b[2] >= NAME_BYTES) return false;
    if (bytes < 3u + b[2] + 8) return false;
    memcpy(name, b + 3, b[2]);
    return *name && strlen(name) == b[2] && note(context, name, h5_number(b + 3 + b[2], 8));
}

static bool links(struct h5 *f, const struct h5_messages *group, h5_note *note, void *context)
{
    for (int i = 0; i < group->count; i++)
        if (group->of[i].type == H5_LINK && !note_link(f, &group->of[i], note, context)) return false;
    return true;
}

static bool members_of_tree(struct h5 *f, const struct h5_message *symbol_table, h5_note *note, void *context)
{
    unsigned char b[NODE_BYTES];
    struct walk w = {.file = f, .note = note, .context = context};
    if (symbol_table->size < 16 || !h5_read(f, symbol_table->at, 16, b)) return false;
    uint64_t tree = h5_number(b, 8);
    if (!open_heap(&w, h5_number(b + 8, 8)) || !h5_read(f, tree, NODE_BYTES, b)) return false;
    return b[5] < H5_MOST_LEVELS && read_group_node(&w, tree, b[5]);
}

bool h5_members(struct h5 *f, const struct h5_messages *group, h5_note *note, void *context)
{
    const struct h5_message *tree = h5_only(group, H5_SYMBOL_TABLE), *info = h5_only(group, H5_LINK_INFO);
    int others = 0;
    for (int i = 0; i < group->count; i++)
        others +=
            group->of[i].type == (tree ? H5_LINK_INFO : H5_SYMBOL_TABLE) || (tree && group->of[i].type == H5_LINK);
    if (others) return false;
    return tree ? members_of_tree(f, tree, note, context)
                : info && are_all_here(f, info) && links(f, group, note, context);
}
