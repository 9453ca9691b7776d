/* Numbers of .eh_frame, read within bounds. */
#ifndef DWARF_H
#define DWARF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Rest of the bytes to read. `bad` stays once something was not there. */
struct reader {
    const uint8_t *at, *end;
    bool bad;
};

/* Read an unsigned number of `bytes` (1 to 8), little endian; 0 and `bad` behind the end. */
static inline uint64_t read_fixed(struct reader *r, unsigned bytes)
{
    uint64_t value = 0;
    if ((uint64_t)(r->end - r->at) < bytes) {
        r->bad = true;
        return 0;
    }
    memcpy(&value, r->at, bytes); /* little endian */
    r->at += bytes;
    return value;
}

/* Read a signed number of `bytes` (1 to 8). */
static inline int64_t read_signed(struct reader *r, unsigned bytes)
{
    uint64_t value = read_fixed(r, bytes);
    unsigned shift = 64 - 8 * bytes;
    return (int64_t)(value << shift) >> shift;
}

/* Read a number in ULEB128. */
static inline uint64_t read_uleb(struct reader *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = (uint8_t)read_fixed(r, 1);
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80) || r->bad) return value;
    }
}

/* Read a number in SLEB128. */
static inline int64_t read_sleb(struct reader *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0;;) {
        uint8_t byte = (uint8_t)read_fixed(r, 1);
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (byte & 0x80 && !r->bad) continue;
        if (shift < 64 && byte & 0x40) value |= ~UINT64_C(0) << shift;
        return (int64_t)value;
    }
}

/* Pass over `bytes`; `bad` if fewer are left. */
static inline void skip(struct reader *r, uint64_t bytes)
{
    if ((uint64_t)(r->end - r->at) < bytes)
        r->bad = true;
    else
        r->at += bytes;
}

enum {
    POINTER_ABSOLUTE = 0,
    POINTER_ULEB,
    POINTER_U2,
    POINTER_U4,
    POINTER_U8,
    POINTER_SLEB = 9,
    POINTER_S2,
    POINTER_S4,
    POINTER_S8,
    POINTER_PC_RELATIVE = 0x10,
    POINTER_DATA_RELATIVE = 0x30,
    POINTER_INDIRECT = 0x80,
    POINTER_OMITTED = 0xff
};

/* Read a pointer in one of the encodings of .eh_frame; `data`: the base of data-relative ones. An unknown encoding is
 * `bad`. */
static inline uint64_t read_pointer(struct reader *r, uint8_t encoding, uint64_t data)
{
    uint64_t here = (uint64_t)r->at, value = 0;
    switch (encoding & 0x0f) {
    case POINTER_ABSOLUTE:
    case POINTER_U8:
    case POINTER_S8:
        value = read_fixed(r, 8);
        break;
    case POINTER_ULEB:
        value = read_uleb(r);
        break;
    case POINTER_SLEB:
        value = (uint64_t)read_sleb(r);
        break;
    case POINTER_U2:
        value = read_fixed(r, 2);
        break;
    case POINTER_S2:
        value = (uint64_t)read_signed(r, 2);
        break;
    case POINTER_U4:
        value = read_fixed(r, 4);
        break;
    case POINTER_S4:
        value = (uint64_t)read_signed(r, 4);
        break;
    default:
        r->bad = true;
    }
    switch (encoding & 0x70) {
    case 0:
        return value;
    case POINTER_PC_RELATIVE:
        return value + here;
    case POINTER_DATA_RELATIVE:
        return value + data;
    default:
        r->bad = true;
    }
    return value;
}

#endif
