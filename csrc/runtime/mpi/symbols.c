/* Nothing here calls another library or reads an address that the dynamic linker fills in: it may run before that. */
#include "mpi/symbols.h"

#include <stddef.h>

/* By volatile reads, or the compiler would make strcmp of it. */
BEFORE_SANITIZERS static bool same_text(const char *a, const char *b)
{
    const volatile char *p = a, *q = b;
    while (*p && *p == *q) p++, q++;
    return *p == *q;
}

/* The dynamic linker has added the base already where it can write to the section. */
BEFORE_SANITIZERS static const void *pointed(uintptr_t base, uintptr_t value)
{
    return (const void *)(value < base ? base + value : value);
}

BEFORE_SANITIZERS bool symbols_open(struct symbols *s, uintptr_t base, const ElfW(Dyn) * dynamic)
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

BEFORE_SANITIZERS static bool is_defined(const struct symbols *s, uint32_t index, const char *name)
{
    const ElfW(Sym) *entry = s->entries + index;
    unsigned type = entry->st_info & 0xf;
    bool fits = type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE;
    return entry->st_shndx != SHN_UNDEF && fits && same_text(s->texts + entry->st_name, name);
}

BEFORE_SANITIZERS static uint32_t find_sysv(const struct symbols *s, const char *name)
{
    uint32_t hash = 0, buckets = s->sysv_hash[0];
    const uint32_t *bucket = s->sysv_hash + 2, *chain = bucket + buckets;
    for (const volatile char *c = name; *c; c++) {
        hash = (hash << 4) + (unsigned char)*c;
        hash = (hash ^ (hash & 0xf0000000) >> 24) & 0x0fffffff;
    }
    uint32_t i = buckets ? bucket[hash % buckets] : 0;
    while (i && !is_defined(s, i, name)) i = chain[i];
    return i;
}

/* https://sourceware.org/legacy-ml/binutils/2006-10/msg00377.html: header, filter, buckets, chains. */
struct gnu_table {
    uint32_t buckets, first; /* first: number of the first symbol in it */
    const uint32_t *bucket, *chain;
};

BEFORE_SANITIZERS static struct gnu_table gnu_table(const struct symbols *s)
{
    uint32_t buckets = s->gnu_hash[0], filters = s->gnu_hash[2];
    const uint32_t *bucket = s->gnu_hash + 4 + filters * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    return (struct gnu_table){buckets, s->gnu_hash[1], bucket, bucket + buckets};
}

/* The filter ahead of the buckets only saves time. */
BEFORE_SANITIZERS static uint32_t find_gnu(const struct symbols *s, const char *name)
{
    uint32_t hash = 5381;
    struct gnu_table t = gnu_table(s);
    for (const volatile char *c = name; *c; c++) hash = hash * 33 + (unsigned char)*c;
    uint32_t i = t.buckets ? t.bucket[hash % t.buckets] : 0;
    if (i < t.first) return 0;
    for (;; i++) {
        uint32_t other = t.chain[i - t.first];
        if ((other | 1) == (hash | 1) && is_defined(s, i, name)) return i;
        if (other & 1) return 0;
    }
}

BEFORE_SANITIZERS uint32_t symbols_index(const struct symbols *s, const char *name)
{
    return s->gnu_hash ? find_gnu(s, name) : find_sysv(s, name);
}

BEFORE_SANITIZERS void *symbols_find(const struct symbols *s, const char *name)
{
    uint32_t index = symbols_index(s, name);
    return index ? (void *)(s->base + s->entries[index].st_value) : NULL;
}

BEFORE_SANITIZERS uint32_t symbols_count(const struct symbols *s)
{
    if (!s->gnu_hash) return s->sysv_hash[1];
    struct gnu_table t = gnu_table(s);
    uint32_t last = 0;
    for (uint32_t i = 0; i < t.buckets; i++)
        if (t.bucket[i] > last) last = t.bucket[i];
    if (last < t.first) return t.first;
    while (!(t.chain[last - t.first] & 1)) last++;
    return last + 1;
}
