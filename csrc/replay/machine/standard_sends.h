#ifndef STANDARD_SENDS_H
#define STANDARD_SENDS_H
/* Blocking sends of which MPI decides by their size whether they wait for their receives. */

#include <stdbool.h>

#include "replay.h"

/* Return true if the traced run shows that this send of `rank` did not wait. Its ranks sent up to `buffered` bytes (-1:
   not known) without waiting. A send of a rank to itself did not wait, or the run would not have ended. */
static inline bool was_buffered(const struct op *op, int32_t rank, int64_t buffered)
{
    return op->flags & OP_STANDARD && buffered >= 0 && (op->bytes <= buffered || op->peer == rank);
}

#endif
