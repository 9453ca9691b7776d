#include "mpi/early.h"

#include <link.h>
#include <stddef.h>

#include "mpi/internal/libraries.h"
#include "mpi/symbols.h"

extern char **environ;
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

static bool constructed;

__attribute__((constructor)) static void construct(void)
{
    __atomic_store_n(&constructed, true, __ATOMIC_RELEASE);
}

/* The dynamic linker puts the address there. */
static const volatile void *const volatile own_address = &own_address;

/* Constructors of other libraries run before ours, but after the C library's: that has set `environ`. */
BEFORE_SANITIZERS bool early_is_over(void)
{
    if (__atomic_load_n(&constructed, __ATOMIC_ACQUIRE)) return true;
    return own_address == &own_address && *(char **volatile *)&environ;
}

BEFORE_SANITIZERS void *early_find(const char *name)
{
    struct symbols library;
    void *found = NULL;
    for (const struct link_map *l = libraries_loaded(); l && !found; l = l->l_next)
        if (l->l_ld != _DYNAMIC && symbols_open(&library, l->l_addr, l->l_ld)) found = symbols_find(&library, name);
    return found;
}
