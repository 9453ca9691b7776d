/* Memory in few large pieces: thousands of ranks lie in a few huge pages, of which the processor knows the places. */
#include "common/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "common/array.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

enum { LEAST_CHUNK = 1 << 16, HUGE_PAGE = 1 << 21, POOL_BLOCKS = 256 };

void arena_open(struct arena *arena, size_t expected)
{
    *arena = (struct arena){.chunk = LEAST_CHUNK};
    while (arena->chunk < expected && arena->chunk < HUGE_PAGE) arena->chunk *= 2;
}

static void *chunk_of(size_t size)
{
    if (size < HUGE_PAGE) return aligned_alloc(LINE, size);
    void *chunk = aligned_alloc(HUGE_PAGE, size);
    if (chunk) madvise(chunk, size, MADV_HUGEPAGE); /* a wish, nothing is lost if it is not granted */
    return chunk;
}

static bool arena_grow(struct arena *arena, size_t size)
{
    if (arena->n == arena->room && !ARRAY_GROW(arena->chunks, arena->room, 16)) return false;
    size_t whole = (size + arena->chunk - 1) / arena->chunk * arena->chunk;
    char *chunk = chunk_of(whole);
    if (!chunk) return false;
    ASAN_POISON_MEMORY_REGION(chunk, whole); /* nobody may touch what was not taken */
    arena->chunks[arena->n++] = chunk;
    arena->at = chunk;
    arena->end = chunk + whole;
    if (arena->chunk < HUGE_PAGE) arena->chunk *= 2;
    return true;
}

void *arena_take(struct arena *arena, size_t size)
{
    size_t lines = (size / LINE + 1) * LINE; /* some more than asked for, which nobody may touch either */
    if ((size_t)(arena->end - arena->at) < lines && !arena_grow(arena, lines)) return NULL;
    void *memory = arena->at;
    ASAN_UNPOISON_MEMORY_REGION(memory, size);
    arena->at += lines;
    return memory;
}

void *arena_zeros(struct arena *arena, size_t n, size_t size)
{
    void *memory = arena_take(arena, n * size);
    return memory ? memset(memory, 0, n * size) : NULL;
}

void arena_free(struct arena *arena)
{
    for (size_t k = 0; k < arena->n; k++) free(arena->chunks[k]);
    free(arena->chunks);
}

bool pool_grow(struct pool *pool)
{
    char *blocks = arena_take(pool->arena, POOL_BLOCKS * pool->size);
    if (!blocks) return false;
    for (size_t k = POOL_BLOCKS; k-- > 0;) pool_give(pool, blocks + k * pool->size);
    return true;
}
