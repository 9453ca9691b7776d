/* The memory that OTF2 writes into: see archive.h. */
#include "otf2/archive.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

enum { EVENTS = 3 }; /* OTF2_FILETYPE_EVENTS */

struct chunk {
    struct chunk *before;
    max_align_t memory[];
};

static void *allocate(void *user, uint8_t file, uint64_t location, void **of_buffer, uint64_t size)
{
    (void)user, (void)location;
    struct chunk *before = *of_buffer;
    if (before && file == EVENTS) return NULL;
    struct chunk *chunk = malloc(sizeof *chunk + size);
    if (!chunk) return NULL;
    chunk->before = before;
    *of_buffer = chunk;
    return chunk->memory;
}

static void free_all(void *user, uint8_t file, uint64_t location, void **of_buffer, bool final)
{
    (void)user, (void)file, (void)location, (void) final;
    for (struct chunk *chunk = *of_buffer, *before; chunk; chunk = before) {
        before = chunk->before;
        free(chunk);
    }
    *of_buffer = NULL;
}

void *archive_allocate(void)
{
    return (void *)allocate;
}

void *archive_free_all(void)
{
    return (void *)free_all;
}
