#define _GNU_SOURCE
#include "places/internal/pages.h"

#include <sys/mman.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(memory, bytes)
#endif

/* Where these pages are there may have been the stack of a thread that has ended, whose frames the sanitizer still
 * remembers. */
void *pages_grown(void *old, size_t from, size_t to)
{
    const int private = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *new = old ? mremap(old, from, to, MREMAP_MAYMOVE) : mmap(NULL, to, PROT_READ | PROT_WRITE, private, -1, 0);
    if (new == MAP_FAILED) return NULL;
    ASAN_UNPOISON_MEMORY_REGION(new, to);
    return new;
}

void pages_free(void *memory, size_t bytes)
{
    if (memory) munmap(memory, bytes);
}
