/* A short list, in order of starting. */
#include "operations/partitioned.h"

#include <string.h>

#include "common/array.h"

int partitioned_start(struct partitioned *sends, struct partitioned_send send)
{
    if (sends->n == sends->room && !ARRAY_GROW(sends->at, sends->room, 16)) return 0;
    sends->at[sends->n++] = send;
    return 1;
}

static void forget_partitioned(struct partitioned *sends, size_t k)
{
    sends->n--;
    memmove(&sends->at[k], &sends->at[k + 1], (sends->n - k) * sizeof *sends->at);
}

int partitioned_ready(struct partitioned *sends, int32_t comm, int32_t peer, int32_t tag, int64_t bytes,
                      struct partitioned_send *done)
{
    for (size_t k = 0; k < sends->n; k++) {
        struct partitioned_send *send = &sends->at[k];
        if (send->comm != comm || send->peer != peer || send->tag != tag || send->left < bytes) continue;
        send->left -= bytes;
        *done = *send;
        if (send->left || !send->bytes) return 0; /* parts of no bytes are not counted: it ends with its completion */
        forget_partitioned(sends, k);
        return 1;
    }
    return 0;
}

int partitioned_end(struct partitioned *sends, int32_t channel, int32_t peer, int32_t tag,
                    struct partitioned_send *done)
{
    for (size_t k = 0; k < sends->n; k++) {
        struct partitioned_send *send = &sends->at[k];
        if (send->channel != channel || send->peer != peer || send->tag != tag) continue;
        *done = *send;
        forget_partitioned(sends, k);
        return 1;
    }
    return 0;
}
