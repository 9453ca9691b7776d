/* Count arrays that MPI reads until an operation is complete, on their way from a fallback to the request. */
#include "handles/count_arrays.h"

#include <stdlib.h>

static __thread struct owned *pending;

void owned_give(int n, void **arrays)
{
    for (int i = 0; i < n; i++) {
        struct owned *o = malloc(sizeof *o);
        if (!o) continue; /* then the array is never freed */
        *o = (struct owned){arrays[i], pending};
        pending = o;
    }
}

struct owned *owned_take(void)
{
    struct owned *o = pending;
    pending = NULL;
    return o;
}

void owned_free(struct owned *o)
{
    while (o) {
        struct owned *next = o->next;
        free(o->memory);
        free(o);
        o = next;
    }
}
