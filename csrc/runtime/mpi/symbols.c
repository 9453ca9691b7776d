/* Nothing here calls another library or reads an address that the dynamic linker fills in: it may run before that. */
#include "mpi/symbols.h"

#include <stddef.h>

/* By volatile reads, or the compiler would make strcmp of it. */
static bool same(const char *a, const char *b)
{
    const volatile char *p = a, *q = b;
    while (*p && *p == *q) p++, q++;
    return *p == *q;
}

/* The dynamic linker has added the base already where it can write to the section. */
static const void *pointed(uintptr_t base, uintptr_t value)
{
    return (const void *)(value < base ? base + value : value);
}

bool symbols_open(struct symbols *s, uintptr_t base, const ElfW(Dyn) * dynamic)
{
    s->entries = NULL;
    s->texts = NULL;
    s->gnu_hash = s->sysv_hash = NULL;
    s->base = base;
    for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++) {
        const void *p = pointed(base, d->d_un.d_ptr);
        if (d->d_tag == DT_SYMTAB) s->entries = p;
        if (d->d_tag == DT_STRTAB) s->texts = p;
        if (d->d_tag == DT_GNU_HASH) s->gnu_hash = p;
        if (d->d_tag == DT_HASH) s->sysv_hash = p;
    }
    return s->entries && s->texts && (s->gnu_hash || s->sysv_hash);
}

static void *defined(const struct symbols *s, uint32_t index, const char *name)
{
    const ElfW(Sym) *entry = s->entries + index;
    unsigned type = entry->st_info & 0xf;
    bool fits = type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE;
    if (entry->st_shndx == SHN_UNDEF || !fits || !same(s->texts + entry->st_name, name)) return NULL;
    return (void *)(s->base + entry->st_value);
}

static void *find_sysv(const struct symbols *s, const char *name)
{
    uint32_t hash = 0, buckets = s->sysv_hash[0];
    const uint32_t *bucket = s->sysv_hash + 2, *chain = bucket + buckets;
    for (const volatile char *c = name; *c; c++) {
        hash = (hash << 4) + (unsigned char)*c;
        hash = (hash ^ (hash & 0xf0000000) >> 24) & 0x0fffffff;
    }
    void *found = NULL;
    for (uint32_t i = buckets ? bucket[hash % buckets] : 0; i && !found; i = chain[i]) found = defined(s, i, name);
    return found;
}

/* https://sourceware.org/legacy-ml/binutils/2006-10/msg00377.html; the filter ahead of the buckets only saves time. */
static void *find_gnu(const struct symbols *s, const char *name)
{
    uint32_t hash = 5381, buckets = s->gnu_hash[0], first = s->gnu_hash[1], filters = s->gnu_hash[2];
    const uint32_t *bucket = s->gnu_hash + 4 + filters * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chain = bucket + buckets;
    for (const volatile char *c = name; *c; c++) hash = hash * 33 + (unsigned char)*c;
    uint32_t i = buckets ? bucket[hash % buckets] : 0;
    if (i < first) return NULL;
    for (;; i++) {
        uint32_t other = chain[i - first];
        void *found = (other | 1) == (hash | 1) ? defined(s, i, name) : NULL;
        if (found || other & 1) return found;
    }
}

void *symbols_find(const struct symbols *s, const char *name)
{
    return s->gnu_hash ? find_gnu(s, name) : find_sysv(s, name);
}
