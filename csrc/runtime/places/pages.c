#define _GNU_SOURCE
#include "places/internal/pages.h"

#include <sys/mman.h>

void *pages_grown(void *old, size_t from, size_t to)
{
    const int private = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *new = old ? mremap(old, from, to, MREMAP_MAYMOVE) : mmap(NULL, to, PROT_READ | PROT_WRITE, private, -1, 0);
    return new == MAP_FAILED ? NULL : new;
}

void pages_free(void *memory, size_t bytes)
{
    if (memory) munmap(memory, bytes);
}
