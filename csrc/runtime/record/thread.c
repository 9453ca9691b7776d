#include "record/thread.h"

#include <stdlib.h>

__thread struct thread self __attribute__((tls_model("initial-exec"))) = {.gate = GATE_NEW};

void *scratch_get(struct scratch *s, uint64_t bytes)
{
    if (s->bytes >= bytes) return s->memory;
    free(s->memory);
    s->memory = malloc(bytes * 2);
    s->bytes = s->memory ? bytes * 2 : 0;
    return s->memory;
}
