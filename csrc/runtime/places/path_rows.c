#include "places/internal/path_rows.h"

#include <stdbool.h>
#include <string.h>

#include "places/internal/modules.h"
#include "places/internal/pages.h"
#include "record/store.h"

enum { FIRST_ROOM = 1 << 10, MOST_PATHS = 1 << 22, MOST_FUNCTIONS = 1 << 16 };

/* Rows, and a table of their numbers with open addressing: four times as many slots as room. */
struct rows {
    char *rows;
    uint32_t *slots;
    uint32_t count, room, most, bytes;
};
static struct rows paths = {.most = MOST_PATHS, .bytes = sizeof(struct file_path)};
static struct rows functions = {.most = MOST_FUNCTIONS, .bytes = sizeof(struct file_function)};

static uint64_t hash_row(const char *row, uint32_t bytes)
{
    uint64_t h = 0, word;
    for (uint32_t i = 0; i < bytes; i += sizeof word) {
        memcpy(&word, row + i, sizeof word);
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

/* The slot of this row, or the free one where it belongs. */
static uint32_t *slot_of_row(const struct rows *r, const char *row)
{
    uint64_t mask = 4 * (uint64_t)r->room - 1, i = hash_row(row, r->bytes) & mask;
    while (r->slots[i] && memcmp(r->rows + (uint64_t)r->slots[i] * r->bytes, row, r->bytes) != 0) i = (i + 1) & mask;
    return &r->slots[i];
}

static bool grow_rows(struct rows *r)
{
    if (r->count < r->room) return true;
    uint32_t larger = r->room ? 2 * r->room : FIRST_ROOM;
    if (larger > r->most) return false;
    uint32_t *slots = pages_grown(NULL, 0, 4 * (uint64_t)larger * sizeof *slots);
    if (!slots) return false;
    char *rows = pages_grown(r->rows, (uint64_t)r->room * r->bytes, (uint64_t)larger * r->bytes);
    if (!rows) {
        pages_free(slots, 4 * (uint64_t)larger * sizeof *slots);
        return false;
    }
    pages_free(r->slots, 4 * (uint64_t)r->room * sizeof *slots);
    r->rows = rows;
    r->slots = slots;
    r->room = larger;
    for (uint32_t i = 1; i < r->count; i++) *slot_of_row(r, r->rows + (uint64_t)i * r->bytes) = i;
    return true;
}

static uint32_t find_or_add_row(struct rows *r, const void *row)
{
    if (r->room) {
        uint32_t known = *slot_of_row(r, row);
        if (known) return known;
    }
    if (!grow_rows(r)) return 0;
    if (!r->count) memset(r->rows, 0, r->bytes), r->count = 1;
    uint32_t number = r->count++;
    memcpy(r->rows + (uint64_t)number * r->bytes, row, r->bytes);
    return *slot_of_row(r, row) = number;
}

uint32_t path_row(uint32_t parent, uint32_t module, uint64_t offset)
{
    struct file_path row = {parent, module, offset};
    return find_or_add_row(&paths, &row);
}

uint32_t function_row(const struct file_function *function)
{
    return find_or_add_row(&functions, function);
}

static int write_path_rows(struct store *store, enum table table, const void *rows, uint32_t count)
{
    uint64_t written = store->table[table].rows, bytes = table_layout[table].row_bytes;
    if (count <= written) return 0;
    return store_append(store, table, (const char *)rows + written * bytes, count - written);
}

/* Write the rows that paths refer to before the paths. */
int path_rows_write(struct store *store)
{
    uint32_t count;
    const struct file_module *modules = modules_rows(&count);
    int error = write_path_rows(store, TABLE_MODULES, modules, count);
    if (!error) error = write_path_rows(store, TABLE_FUNCTIONS, functions.rows, functions.count);
    return error ? error : write_path_rows(store, TABLE_PATHS, paths.rows, paths.count);
}

uint32_t path_rows_count(void)
{
    return paths.count;
}
