/* From a fallback of csrc/generate/large.py to the request that it posts. */
#ifndef OWNED_H
#define OWNED_H

/* Hand over the count arrays of a nonblocking call; decode.h has owned_take. */
void owned_give(int n, void **arrays);

#endif
