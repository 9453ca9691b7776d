/* Packs operations, and unpacks parts of them. */
#include "packed/pack.h"

#include <stdlib.h>

#include "packed/unpack.h"

enum { HASH_PLACES = 4 * PACK_PLACES, NOWHERE = 255 };

/* shapes: the dictionary; its bursts say nothing. hashed: a hash table of places in it. after: which place came after
   each the last time, for programs repeat themselves; `last` is that of the operation before. */
struct packer {
    struct op shapes[PACK_PLACES];
    uint8_t hashed[HASH_PLACES], after[PACK_PLACES], last;
    int32_t n, most, in_block;
    int64_t virtual_threads;
};

struct packer *packer_new(void)
{
    return calloc(1, sizeof(struct packer));
}

void packer_free(struct packer *packer)
{
    free(packer);
}

void packer_copy(struct packer *to, const struct packer *from)
{
    *to = *from;
}

int64_t packer_virtual_threads(const struct packer *packer)
{
    return packer->virtual_threads;
}

int64_t packer_places(const struct packer *packer)
{
    return packer->most;
}

void packer_forget(struct packer *packer)
{
    memset(packer->hashed, NOWHERE, sizeof packer->hashed);
    packer->n = 0;
}

/* Operations are compared word by word, without the burst, which comes first. */
enum { WORDS = sizeof(struct op) / sizeof(uint64_t) };

static inline uint64_t word_of(const struct op *op, int k)
{
    uint64_t word;
    memcpy(&word, (const char *)op + k * (int)sizeof word, sizeof word);
    return word;
}

static inline bool is_alike(const struct op *a, const struct op *b)
{
    uint64_t differ = 0;
    for (int k = 1; k < WORDS; k++) differ |= word_of(a, k) ^ word_of(b, k);
    return !differ;
}

static unsigned hash_op(const struct op *op)
{
    static const uint64_t ODD[WORDS] = {
        0, 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb, 0xd6e8feb86659fd93, 0xc2b2ae3d27d4eb4f};
    uint64_t sum = 0;
    for (int k = 1; k < WORDS; k++) sum += (word_of(op, k) ^ word_of(op, k) >> 32) * ODD[k];
    return (unsigned)(sum >> 40) % HASH_PLACES;
}

/* Where the dictionary has the operation; PACK_NEW more if it did not. */
static unsigned looked_up(struct packer *packer, const struct op *op)
{
    unsigned hash = hash_op(op), at = hash;
    for (; packer->hashed[at] != NOWHERE; at = (at + 1) % HASH_PLACES)
        if (is_alike(&packer->shapes[packer->hashed[at]], op)) return packer->hashed[at];
    if (packer->n == PACK_PLACES) {
        packer_forget(packer);
        at = hash;
    }
    packer->shapes[packer->n] = *op;
    packer->hashed[at] = (uint8_t)packer->n++;
    if (packer->n > packer->most) packer->most = packer->n;
    return PACK_NEW + (unsigned)packer->n - 1;
}

/* Eight bytes of the burst are written, and as many as it has are kept. */
static inline uint8_t *put_place(uint8_t *out, unsigned place, int64_t burst)
{
    unsigned size = (burst != 0) + (63 - (unsigned)__builtin_clzll((uint64_t)burst | 1)) / 8;
    out[0] = (uint8_t)place;
    out[1] = (uint8_t)size;
    memcpy(out + 2, &burst, sizeof burst);
    return out + 2 + size;
}

static inline uint8_t *put_packed_number(uint8_t *out, int64_t number)
{
    uint64_t rest = (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
    for (; rest > 127; rest >>= 7) *out++ = (uint8_t)(rest | 128);
    *out++ = (uint8_t)rest;
    return out;
}

static uint8_t *put_shape(uint8_t *out, const struct op *op)
{
    out = put_packed_number(out, op->bytes);
    out = put_packed_number(out, op->other);
    out = put_packed_number(out, op->peer);
    out = put_packed_number(out, op->tag);
    out = put_packed_number(out, op->comm);
    out = put_packed_number(out, op->request);
    out = put_packed_number(out, op->kind);
    out = put_packed_number(out, op->flags);
    return put_packed_number(out, op->block);
}

/* An operation that was not expected: it is from now on. */
__attribute__((noinline)) static uint8_t *put_unexpected(struct packer *packer, uint8_t *out, const struct op *op)
{
    unsigned place = looked_up(packer, op);
    packer->last = packer->after[packer->last] = place % PACK_PLACES;
    out = put_place(out, place, op->burst);
    if (!(place & PACK_NEW)) return out;
    if (op->kind == OP_PARALLEL && op->other > packer->virtual_threads) packer->virtual_threads = op->other;
    return put_shape(out, op);
}

/* Operations of one block. */
static uint8_t *put_operations(struct packer *packer, uint8_t *out, const struct op *op, const struct op *end)
{
    unsigned last = packer->last;
    for (; op < end; op++) {
        unsigned expected = packer->after[last];
        if ((int)expected < packer->n && is_alike(&packer->shapes[expected], op)) {
            out = put_place(out, expected, op->burst);
            last = expected;
        } else {
            packer->last = (uint8_t)last;
            out = put_unexpected(packer, out, op);
            last = packer->last;
        }
    }
    packer->last = (uint8_t)last;
    return out;
}

int64_t packer_append(struct packer *packer, const void *operations, int64_t n, uint8_t *out, int64_t *begins)
{
    const struct op *op = operations, *end = op + n;
    uint8_t *to = out;
    while (op < end) {
        if (packer->in_block % PACK_BLOCK == 0) {
            packer_forget(packer);
            packer->in_block = 0;
            *begins++ = to - out;
        }
        int64_t left = end - op, room = PACK_BLOCK - packer->in_block, now = left < room ? left : room;
        packer->in_block += (int32_t)now;
        to = put_operations(packer, to, op, op + now);
        op += now;
    }
    return to - out;
}

bool unpack_operations(const uint8_t *packed, int64_t size, int64_t skip, int64_t n, void *out)
{
    struct op shapes[PACK_PLACES] = {0};
    struct op *to = out, skipped;
    const uint8_t *at = packed, *stop = packed + size;
    for (int64_t k = -skip; k < n; k++) {
        if (at >= stop) return false;
        unpack_next(shapes, &at, k < 0 ? &skipped : to++);
    }
    return at <= stop;
}
