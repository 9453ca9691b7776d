/* Packs operations, and unpacks parts of them. */
#include "unpack.h"

#include <stdlib.h>

enum { HASH_PLACES = 4 * PACK_PLACES, NOWHERE = 255 };

/* shapes: the dictionary, with bursts of 0. hashed: a hash table of places in it. */
struct packer {
    struct op shapes[PACK_PLACES];
    uint8_t hashed[HASH_PLACES];
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

static unsigned hash_of(const struct op *op)
{
    static const uint64_t ODD[] = {
        0, 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb, 0xd6e8feb86659fd93, 0xc2b2ae3d27d4eb4f};
    uint64_t words[sizeof *op / sizeof *ODD], sum = 0;
    memcpy(words, op, sizeof words);
    for (size_t k = 1; k < sizeof words / sizeof *words; k++) sum += (words[k] ^ words[k] >> 32) * ODD[k];
    return (unsigned)(sum >> 40) % HASH_PLACES;
}

/* Where the dictionary has an operation whose burst is 0; PACK_NEW more if it did not. */
static unsigned place_of(struct packer *packer, const struct op *op)
{
    if (packer->n == PACK_PLACES) forget_all(packer);
    unsigned at = hash_of(op);
    for (; packer->hashed[at] != NOWHERE; at = (at + 1) % HASH_PLACES)
        if (!memcmp(&packer->shapes[packer->hashed[at]], op, sizeof *op)) return packer->hashed[at];
    packer->shapes[packer->n] = *op;
    packer->hashed[at] = (uint8_t)packer->n;
    return PACK_NEW + (unsigned)packer->n++;
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
    struct op shape = *op;
    uint64_t burst = (uint64_t)op->burst;
    shape.burst = 0;
    unsigned place = place_of(packer, &shape), size = burst ? 8 - (unsigned)__builtin_clzll(burst) / 8 : 0;
    *out++ = (uint8_t)place;
    *out++ = (uint8_t)size;
    memcpy(out, &burst, sizeof burst);
    out += size;
    return place & PACK_NEW ? put_shape(out, &shape) : out;
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
