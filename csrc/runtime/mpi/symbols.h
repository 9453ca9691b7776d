/* Symbols of a loaded library, read from its own tables.
 *
 * The dynamic linker's dlsym would do, but it needs a C library that has started, and a lock that whoever is inside
 * dlopen holds while constructors run: a constructor that waits for a thread which calls MPI would wait for ever. */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* For what runs before a sanitizer's own library has started. */
#define BEFORE_SANITIZERS __attribute__((no_sanitize("address", "undefined", "thread")))

struct symbols {
    const ElfW(Sym) * entries;
    const char *texts;
    const uint32_t *gnu_hash, *sysv_hash; /* NULL: it has none */
    uintptr_t base;                       /* what addresses in the file are relative to */
};

/* The tables that a library's dynamic section names. False: it has none. */
bool symbols_open(struct symbols *s, uintptr_t base, const ElfW(Dyn) * dynamic);

/* A function or datum that the library defines; NULL: it does not. */
void *symbols_find(const struct symbols *s, const char *name);

/* The number of its entry among `entries`; 0: it defines none of that name. */
uint32_t symbols_index(const struct symbols *s, const char *name);

/* Number of entries, the first of which means nothing. */
uint32_t symbols_count(const struct symbols *s);

#endif
