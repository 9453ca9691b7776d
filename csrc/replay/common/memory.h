#ifndef MEMORY_H
#define MEMORY_H
/* The memory of a simulation: an arena, which is freed as a whole, and equal blocks of it, which are reused. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Length of a line of the cache, in bytes. */
enum { LINE = 64 };

struct arena {
    char *at, *end; /* of what is free in the last chunk */
    size_t chunk;   /* bytes of the next one at least */
    void **chunks;
    size_t n, room;
};

/* Equal blocks of an arena. The contents of a block that was taken are undefined. */
struct pool {
    size_t size;
    void *free;
    struct arena *arena;
};

/* Functions of memory.c. They return NULL or false if there is no memory. expected: bytes that the arena will need.
   Memory that is taken begins at a line of the cache. The arena owns it until arena_free. */
void arena_open(struct arena *arena, size_t expected);
void *arena_take(struct arena *arena, size_t size);
void *arena_zeros(struct arena *arena, size_t n, size_t size);
void arena_free(struct arena *arena);
bool pool_grow(struct pool *pool);

/* Take a block of the pool; its contents are undefined. Returns NULL if there is no memory. */
static inline void *pool_take(struct pool *pool)
{
    if (!pool->free && !pool_grow(pool)) return NULL;
    void *block = pool->free;
    memcpy(&pool->free, block, sizeof(void *));
    return block;
}

/* Give a block back to the pool that it was taken from. */
static inline void pool_give(struct pool *pool, void *block)
{
    memcpy(block, &pool->free, sizeof(void *));
    pool->free = block;
}

#endif
