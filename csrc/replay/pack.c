/* Packs operations, and unpacks parts of them. */
#include "unpack.h"

#include <stdlib.h>

enum { HASH_PLACES = 4 * PACK_PLACES, NOWHERE = 255 };

/* shapes: the dictionary; its bursts say nothing. hashed: a hash table of places in it. after: which place came after
   each the last time, for programs repeat themselves; `last` is that of the operation before. */
struct packer {
    struct op shapes[PACK_PLACES];
    uint8_t hashed[HASH_PLACES], after[PACK_PLACES], last;
    int32_t n, in_block;
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

int64_t packer_virtual_threads(const struct packer *packer)
{
    return packer->virtual_threads;
}

static void forget_all(struct packer *packer)
{
    memset(packer->hashed, NOWHERE, sizeof packer->hashed);
    packer->n = 0;
}

/* What tells operations apart: all but the burst, which comes first. */
enum { WORDS = sizeof(struct op) / sizeof(uint64_t) };

static inline bool is_alike(const struct op *a, const struct op *b)
{
    uint64_t of_a[WORDS], of_b[WORDS], differ = 0;
    memcpy(of_a, a, sizeof of_a);
    memcpy(of_b, b, sizeof of_b);
    for (int k = 1; k < WORDS; k++) differ |= of_a[k] ^ of_b[k];
    return !differ;
}

static unsigned hash_of(const struct op *op)
{
    static const uint64_t ODD[WORDS] = {
        0, 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb, 0xd6e8feb86659fd93, 0xc2b2ae3d27d4eb4f};
    uint64_t words[WORDS], sum = 0;
    memcpy(words, op, sizeof words);
    for (int k = 1; k < WORDS; k++) sum += (words[k] ^ words[k] >> 32) * ODD[k];
    return (unsigned)(sum >> 40) % HASH_PLACES;
}

/* Where the dictionary has the operation; PACK_NEW more if it did not. */
static unsigned looked_up(struct packer *packer, const struct op *op)
{
    unsigned hash = hash_of(op), at = hash;
    for (; packer->hashed[at] != NOWHERE; at = (at + 1) % HASH_PLACES)
        if (is_alike(&packer->shapes[packer->hashed[at]], op)) return packer->hashed[at];
    if (packer->n == PACK_PLACES) {
        forget_all(packer);
        at = hash;
    }
    packer->shapes[packer->n] = *op;
    packer->hashed[at] = (uint8_t)packer->n;
    return PACK_NEW + (unsigned)packer->n++;
}

static inline unsigned place_of(struct packer *packer, const struct op *op)
{
    uint8_t *expected = &packer->after[packer->last];
    if (*expected < packer->n && is_alike(&packer->shapes[*expected], op)) return packer->last = *expected;
    unsigned place = looked_up(packer, op);
    packer->last = *expected = place % PACK_PLACES;
    return place;
}

static uint8_t *put_number(uint8_t *out, int64_t number)
{
    uint64_t rest = (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
    for (; rest > 127; rest >>= 7) *out++ = (uint8_t)(rest | 128);
    *out++ = (uint8_t)rest;
    return out;
}

static uint8_t *put_shape(uint8_t *out, const struct op *op)
{
    const int64_t fields[] = {op->bytes,   op->other, op->peer,  op->tag,  op->comm,
                              op->request, op->kind,  op->flags, op->block};
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) out = put_number(out, fields[k]);
    return out;
}

static uint8_t *put_operation(struct packer *packer, uint8_t *out, const struct op *op)
{
    uint64_t burst = (uint64_t)op->burst;
    unsigned place = place_of(packer, op), size = burst ? 8 - (unsigned)__builtin_clzll(burst) / 8 : 0;
    *out++ = (uint8_t)place;
    *out++ = (uint8_t)size;
    memcpy(out, &burst, sizeof burst);
    out += size;
    return place & PACK_NEW ? put_shape(out, op) : out;
}

int64_t packer_append(struct packer *packer, const void *operations, int64_t n, uint8_t *out, int64_t *begins)
{
    const struct op *op = operations;
    uint8_t *to = out;
    for (int64_t k = 0; k < n; k++, op++) {
        if (packer->in_block % PACK_BLOCK == 0) {
            forget_all(packer);
            packer->in_block = 0;
            *begins++ = to - out;
        }
        packer->in_block++;
        if (op->kind == OP_PARALLEL && op->other > packer->virtual_threads) packer->virtual_threads = op->other;
        to = put_operation(packer, to, op);
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
