/* Ids of communicators that all members derive alike without a message. */
#ifndef IDS_H
#define IDS_H

#include <stddef.h>
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

/* The same for a window or file (enum objectkind): the n-th of its kind that this communicator's members make. */
uint64_t ids_derive_object(uint64_t comm, uint32_t kind);

/* How often this key has been counted, this time included; 0: no memory. */
uint32_t ids_count(uint64_t key);

/* Return the id that stands for a text as a parent. */
uint64_t ids_of_text(const char *text, size_t length);

#endif
