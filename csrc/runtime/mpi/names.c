#include "mpi/names.h"

#include <elf.h>
#include <stddef.h>

#include "mpi/internal/libraries.h"

enum { MOST_SYMBOLS = 4096, MOST_LIBRARIES = 32 };

/* Our table of symbols as it was linked, and as the dynamic linker sees it. */
static struct symbols linked;
static ElfW(Sym) shown[MOST_SYMBOLS];
static uint32_t symbol_count;

/* Libraries that have procedures of MPI. */
struct providers {
    struct symbols symbols[MOST_LIBRARIES];
    unsigned count;
};

BEFORE_SANITIZERS static void find_providers(struct providers *p)
{
    p->count = 0;
    const struct link_map *own = libraries_own();
    for (const struct link_map *l = libraries_loaded(); l && p->count < MOST_LIBRARIES; l = l->l_next) {
        struct symbols *s = &p->symbols[p->count];
        if (l == own || !symbols_open(s, l->l_addr, l->l_ld)) continue;
        p->count += libraries_is_mpi(l) || symbols_find(s, "MPI_Init");
    }
}

BEFORE_SANITIZERS static bool is_provided(const struct providers *p, const char *name)
{
    for (unsigned i = 0; i < p->count; i++)
        if (symbols_index(&p->symbols[i], name)) return true;
    return false;
}

BEFORE_SANITIZERS static bool is_procedure(uint32_t index)
{
    const ElfW(Sym) *symbol = linked.entries + index;
    return symbol->st_shndx != SHN_UNDEF && libraries_name_is_mpis(linked.texts + symbol->st_name);
}

/* Are these the providers of the last time? */
BEFORE_SANITIZERS static bool are_known(const struct providers *p)
{
    static uintptr_t known[MOST_LIBRARIES];
    static unsigned known_count = MOST_LIBRARIES + 1;
    bool same = p->count == known_count;
    for (unsigned i = 0; i < p->count; i++) {
        same = same && p->symbols[i].base == known[i];
        known[i] = p->symbols[i].base;
    }
    known_count = p->count;
    return same;
}

/* Other threads may be looking for symbols: each is changed in one word. */
BEFORE_SANITIZERS static void show_what_is_provided(void)
{
    struct providers providers;
    find_providers(&providers);
    if (are_known(&providers)) return;
    for (uint32_t i = 1; i < symbol_count; i++) {
        if (!is_procedure(i)) continue;
        bool there = is_provided(&providers, linked.texts + linked.entries[i].st_name);
        __atomic_store_n(&shown[i].st_value, there ? linked.entries[i].st_value : 0, __ATOMIC_RELAXED);
    }
}

/* The resolver of __gmon_start__. */
BEFORE_SANITIZERS static void *libraries_come(void)
{
    show_what_is_provided();
    return (void *)(linked.base + linked.entries[symbols_index(&linked, "__gmon_start__")].st_value);
}

/* Libraries that stand behind us have been bound already. What we define and no MPI has becomes again what they would
 * have found without us: nothing. */
BEFORE_SANITIZERS static void undo(const struct reference *reference, void *library)
{
    uint32_t index = symbols_index(&linked, reference->name);
    if (!index || !reference->weak || shown[index].st_value) return;
    if (*reference->place == linked.base + linked.entries[index].st_value) libraries_refer(library, reference, 0);
}

BEFORE_SANITIZERS static bool copy_symbols(const struct link_map *own)
{
    if (!own || !symbols_open(&linked, own->l_addr, own->l_ld)) return false;
    uint32_t count = symbols_count(&linked);
    if (count > MOST_SYMBOLS) return false;
    for (uint32_t i = 0; i < count; i++) *(volatile ElfW(Sym) *)&shown[i] = linked.entries[i];
    symbol_count = count;
    return true;
}

/* The address of the table is still writable. A dynamic linker that has not made it absolute has a note of its own. */
BEFORE_SANITIZERS static bool hand_over(const struct link_map *own)
{
    ElfW(Dyn) *d = own->l_ld;
    while (d->d_tag != DT_SYMTAB && d->d_tag != DT_NULL) d++;
    if (d->d_tag == DT_NULL || d->d_un.d_ptr != (uintptr_t)linked.entries) return false;
    d->d_un.d_ptr = (uintptr_t)shown;
    return true;
}

BEFORE_SANITIZERS static void listen_for_loads(void)
{
    uint32_t index = symbols_index(&linked, "__gmon_start__");
    shown[index].st_value = (uintptr_t)libraries_come - linked.base;
    shown[index].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
}

BEFORE_SANITIZERS static void nothing(void) {}

typedef void procedure(void);

/* The dynamic linker comes here when it has bound us, before the program and what stands in front of us. */
__attribute__((used)) BEFORE_SANITIZERS static procedure *we_are_bound(void)
{
    const struct link_map *own = libraries_own();
    if (!copy_symbols(own)) return nothing;
    show_what_is_provided();
    if (!hand_over(own)) return nothing;
    listen_for_loads();
    libraries_started();
    for (struct link_map *l = own->l_next; l; l = l->l_next) libraries_references(l, undo, l);
    return nothing;
}

static void names_ready(void) __attribute__((ifunc("we_are_bound")));

__attribute__((constructor)) static void use_it(void)
{
    names_ready(); /* or there would be no relocation that calls the resolver */
}

BEFORE_SANITIZERS void *names_find(const char *name)
{
    uint32_t index = symbol_count ? symbols_index(&linked, name) : 0;
    uintptr_t value = index ? __atomic_load_n(&shown[index].st_value, __ATOMIC_RELAXED) : 0;
    return value ? (void *)(linked.base + value) : NULL;
}
