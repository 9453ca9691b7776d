/* From a fallback of csrc/generate/large.py to the request that it posts. */
#ifndef COUNT_ARRAYS_H
#define COUNT_ARRAYS_H

#include "handles/requests.h"

/* Hand over the count arrays of a nonblocking call. */
void owned_give(int n, void **arrays);

/* Take the arrays of the operation just posted, which reads them until it is complete. */
struct owned *owned_take(void);
void owned_free(struct owned *o);

#endif
