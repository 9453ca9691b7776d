#define _GNU_SOURCE
#include "places/internal/modules.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "places/internal/mapped_file.h"
#include "places/internal/pages.h"

enum { FIRST_ROOM = 64, MOST_MODULES = 4096, NOTE_ALIGN = 4 };

static struct module *modules;
static unsigned module_count, module_room;
static struct file_module *rows;
static uint32_t row_count, row_room;
static bool only_known;

static void *grown(void *array, uint32_t count, uint32_t *room, size_t bytes)
{
    if (count < *room) return array;
    uint32_t larger = *room ? 2 * *room : FIRST_ROOM;
    void *new = larger > MOST_MODULES ? NULL : pages_grown(array, *room * bytes, larger * bytes);
    if (new) *room = larger;
    return new;
}

static void put_hexadecimal(char *to, size_t room, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n && 2 * i + 1 < room; i++) {
        to[2 * i] = digits[bytes[i] >> 4];
        to[2 * i + 1] = digits[bytes[i] & 15];
    }
}

static void put_build_id(struct file_module *row, const uint8_t *notes, size_t bytes)
{
    while (bytes >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const void *)notes;
        size_t name = ((size_t)note->n_namesz + NOTE_ALIGN - 1) & ~(size_t)(NOTE_ALIGN - 1);
        size_t value = ((size_t)note->n_descsz + NOTE_ALIGN - 1) & ~(size_t)(NOTE_ALIGN - 1);
        if (name + value > bytes - sizeof *note) return;
        const uint8_t *text = notes + sizeof *note;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(text, "GNU", 4) == 0) {
            put_hexadecimal(row->build_id, sizeof row->build_id, text + name, note->n_descsz);
            return;
        }
        notes = text + name + value;
        bytes -= sizeof *note + name + value;
    }
}

/* A library that was found by a relative path (LD_PRELOAD=./libx.so) keeps that name, wherever the program goes. */
static void put_path(struct file_module *row, const char *name)
{
    size_t room = sizeof row->path - 1;
    bool relative = *name && *name != '/' && strchr(name, '/');
    if (relative && mapped_file(row->begin, row->path, sizeof row->path)) return;
    if (*name)
        strncpy(row->path, name, room);
    else if (readlink("/proc/self/exe", row->path, room) < 0)
        strncpy(row->path, "(program)", room);
}

/* Return the row of a module; one that is loaded again to the same place has the row that it had before. */
static uint32_t row_of_module(const struct file_module *wanted)
{
    if (!row_count) {
        rows = grown(rows, 0, &row_room, sizeof *rows);
        if (!rows) return 0;
        rows[row_count++] = (struct file_module){.base = 0};
    }
    for (uint32_t i = 1; i < row_count; i++)
        if (memcmp(&rows[i], wanted, sizeof *wanted) == 0) return i;
    struct file_module *larger = grown(rows, row_count, &row_room, sizeof *rows);
    if (!larger) return 0;
    rows = larger;
    rows[row_count] = *wanted;
    return row_count++;
}

static void add_segment(struct module *m, uint64_t begin, uint64_t end, uint32_t flags)
{
    if (!m->end || begin < m->begin) m->begin = begin;
    if (end > m->end) m->end = end;
    if (!(flags & PF_R) || m->segment_count == MOST_SEGMENTS) return;
    m->segments[m->segment_count++] = (struct span){(const uint8_t *)begin, (const uint8_t *)end};
}

/* Notes may lie in the file alone. */
static void read_notes(const struct module *m, struct file_module *row, const ElfW(Phdr) * p)
{
    struct span there = modules_readable(m, (const uint8_t *)(m->base + p->p_vaddr));
    if (there.begin && p->p_memsz <= (uint64_t)(there.end - there.begin)) put_build_id(row, there.begin, p->p_memsz);
}

static struct module describe_module(const struct dl_phdr_info *info, struct file_module *row)
{
    struct module m = {.base = info->dlpi_addr};
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD) add_segment(&m, at, at + p->p_memsz, p->p_flags);
        if (p->p_type == PT_GNU_EH_FRAME) m.index = (const uint8_t *)at;
    }
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE) read_notes(&m, row, &info->dlpi_phdr[i]);
    return m;
}

static bool module_is_known(uint64_t base, const struct module *new)
{
    for (unsigned i = 0; i < module_count; i++)
        if (modules[i].base == base && modules[i].begin == new->begin) return true;
    return false;
}

static int meet_module(struct dl_phdr_info *info, size_t bytes, void *unused)
{
    (void)bytes, (void)unused;
    struct file_module row = {.base = info->dlpi_addr};
    struct module m = describe_module(info, &row);
    if (!m.end || module_is_known(info->dlpi_addr, &m)) return 0;
    struct module *larger = grown(modules, module_count, &module_room, sizeof *modules);
    if (!larger) return 1;
    modules = larger;
    row.begin = m.begin;
    row.end = m.end;
    put_path(&row, info->dlpi_name ? info->dlpi_name : "");
    m.says = row;
    modules[module_count++] = m;
    return 0;
}

static const struct module *find_module(uint64_t address)
{
    for (unsigned i = 0; i < module_count; i++)
        if (address >= modules[i].begin && address < modules[i].end) return &modules[i];
    return NULL;
}

const struct module *modules_find(uint64_t address)
{
    const struct module *found = find_module(address);
    if (found || only_known) return found;
    dl_iterate_phdr(meet_module, NULL);
    return find_module(address);
}

void modules_only_known(bool only)
{
    only_known = only;
}

uint32_t modules_row(const struct module *m)
{
    struct module *known = &modules[m - modules];
    if (!known->row) known->row = row_of_module(&known->says);
    return known->row;
}

void modules_forget(void)
{
    module_count = 0;
}

static int compare_module(struct dl_phdr_info *info, size_t bytes, void *other)
{
    static unsigned long long loaded, unloaded;
    (void)bytes;
    *(bool *)other = info->dlpi_adds != loaded || info->dlpi_subs != unloaded;
    loaded = info->dlpi_adds;
    unloaded = info->dlpi_subs;
    return 1;
}

bool modules_changed(void)
{
    bool other = false;
    dl_iterate_phdr(compare_module, &other);
    return other;
}

const struct file_module *modules_rows(uint32_t *count)
{
    *count = row_count;
    return rows;
}

struct span modules_readable(const struct module *m, const uint8_t *at)
{
    for (unsigned i = 0; i < m->segment_count; i++)
        if (at >= m->segments[i].begin && at < m->segments[i].end) return (struct span){at, m->segments[i].end};
    return (struct span){NULL, NULL};
}
