/* Memory in equal blocks. */

#include <stdlib.h>
#include <string.h>

#include "events.h"

enum { SLAB = 256 };

void *aligned_zeros(size_t size)
{
    size_t whole = (size + LINE) / LINE * LINE;
    void *memory = aligned_alloc(LINE, whole);
    return memory ? memset(memory, 0, whole) : NULL;
}

bool pool_grow(struct pool *pool)
{
    void **slabs = realloc(pool->slabs, (pool->n_slabs + 1) * sizeof *slabs);
    if (!slabs) return false;
    pool->slabs = slabs;
    char *slab = aligned_alloc(LINE, SLAB * pool->size); /* a multiple of LINE: blocks are of whole bytes */
    if (!slab) return false;
    pool->slabs[pool->n_slabs++] = slab;
    for (size_t i = SLAB; i-- > 0;) pool_give(pool, slab + i * pool->size);
    return true;
}

void pool_free(struct pool *pool)
{
    for (size_t i = 0; i < pool->n_slabs; i++) free(pool->slabs[i]);
    free(pool->slabs);
}
