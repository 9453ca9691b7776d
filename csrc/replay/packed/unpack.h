#ifndef UNPACK_H
#define UNPACK_H
/* Takes operations out of their packed form, one after the other; whatever the bytes are, PACK_MOST of them at most are
   looked at. */

#include <string.h>

#include "packed/format.h"
#include "replay.h"

/* Read a signed number at *at, which is moved behind it; 10 bytes at most. */
static inline int64_t unpack_number(const uint8_t **at)
{
    uint64_t found = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        found |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) break;
    }
    return (int64_t)(found >> 1 ^ -(found & 1));
}

/* Read all fields of an operation but its burst; returns the place behind them. */
static inline const uint8_t *unpack_shape(const uint8_t *at, struct op *op)
{
    op->bytes = unpack_number(&at);
    op->other = unpack_number(&at);
    op->peer = (int32_t)unpack_number(&at);
    op->tag = (int32_t)unpack_number(&at);
    op->comm = (int32_t)unpack_number(&at);
    op->request = (int32_t)unpack_number(&at);
    op->kind = (uint16_t)unpack_number(&at);
    op->flags = (uint16_t)unpack_number(&at);
    op->block = (uint32_t)unpack_number(&at);
    return at;
}

/* The place of the operation at *at, which is moved behind it, and PACK_NEW if it is there only now. */
static inline unsigned unpack_place(struct op *shapes, const uint8_t **at, int64_t *burst)
{
    static const uint64_t LOWEST[16] = {
        0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, UINT64_MAX};
    const uint8_t *p = *at;
    unsigned place = p[0], size = p[1] & 15;
    uint64_t bytes;
    memcpy(&bytes, p + 2, sizeof bytes);
    p += 2 + size;
    if (__builtin_expect(place & PACK_NEW, 0)) p = unpack_shape(p, &shapes[place % PACK_PLACES]);
    *burst = (int64_t)(bytes & LOWEST[size]);
    *at = p;
    return place;
}

/* Write the operation at *at, which is moved behind it, to `op`. */
static inline void unpack_next(struct op *shapes, const uint8_t **at, struct op *op)
{
    int64_t burst;
    unsigned place = unpack_place(shapes, at, &burst);
    *op = shapes[place % PACK_PLACES];
    op->burst = burst; /* not in the dictionary: what was just written is copied late */
}

#endif
