/* Ids of communicators that all members derive alike without a message. */
#ifndef IDS_H
#define IDS_H

#include <stdint.h>

/* Spreads the bits of a number (the finalizer of MurmurHash3). */
static inline uint64_t ids_mix(uint64_t h)
{
    h ^= h >> 33;
    h *= UINT64_C(0xff51afd7ed558ccd);
    h ^= h >> 33;
    h *= UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

/* From the parent's id, the members' world ranks, and how often that pair has come before. Larger than the ids of world
 * and self. Not for two threads at once. */
uint64_t ids_derive(uint64_t parent, const uint32_t *members, uint32_t size, const uint32_t *remote,
                    uint32_t remote_size);

#endif
