/* An HDF5 file in memory as far as it is looked at: its superblock and its object headers. */
#include "hdf5/internal/h5.h"
#include "hdf5/internal/read_whole.h"

#include <string.h>
#include <unistd.h>

enum { SUPERBLOCK_BYTES = 100, GROUP_CACHED = 1, PREFIX_BYTES = 16, MESSAGE_BYTES = 8 };
enum { DEFAULT_CHUNKS_HALF = 32 };
enum { CONSTANT = 1, SHARED = 2, NOT_TO_BE_SHARED = 4 };

static bool fill_page(struct h5 *f, uint64_t number)
{
    uint64_t slot = number % H5_BLOCKS, at = number * H5_BLOCK_BYTES, rest = f->bytes - at;
    f->number[slot] = H5_UNDEFINED;
    f->size[slot] = rest < H5_BLOCK_BYTES ? rest : H5_BLOCK_BYTES;
    if (read_whole(f->fd, f->block[slot], f->size[slot], (int64_t)at) != 1) return false;
    f->number[slot] = number;
    return true;
}

bool h5_read(struct h5 *f, uint64_t at, uint64_t bytes, void *into)
{
    if (!h5_has(f, at, bytes)) return false;
    if (bytes > H5_BLOCK_BYTES) return read_whole(f->fd, into, bytes, (int64_t)at) == 1;
    while (bytes) {
        uint64_t number = at / H5_BLOCK_BYTES, slot = number % H5_BLOCKS, skip = at % H5_BLOCK_BYTES;
        if (f->number[slot] != number && !fill_page(f, number)) return false;
        if (skip >= f->size[slot]) return false;
        uint64_t some = f->size[slot] - skip < bytes ? f->size[slot] - skip : bytes;
        memcpy(into, f->block[slot] + skip, some);
        into = (char *)into + some;
        at += some;
        bytes -= some;
    }
    return true;
}

/* II.A: versions 0 and 1, without user block, driver, or sizes other than 8. */
static bool superblock(struct h5 *f, const unsigned char *b, uint64_t file_bytes)
{
    static const unsigned char signature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    uint8_t version = b[8];
    if (memcmp(b, signature, sizeof signature) || version > 1) return false;
    if (b[9] || b[10] || b[12] || b[13] != 8 || b[14] != 8 || h5_number(b + 20, 4)) return false;
    uint64_t symbols_half = h5_number(b + 16, 2), group_half = h5_number(b + 18, 2);
    uint64_t chunks_half = version ? h5_number(b + 24, 2) : DEFAULT_CHUNKS_HALF;
    const unsigned char *addresses = b + (version ? 28 : 24), *root = addresses + 32;
    if (!symbols_half || !group_half || !chunks_half) return false;
    f->symbols_most = (uint32_t)(2 * symbols_half);
    f->group_most = (uint32_t)(2 * group_half);
    f->chunks_most = (uint32_t)(2 * chunks_half);
    f->end = h5_number(addresses + 16, 8);
    f->root = h5_number(root + 8, 8);
    bool plain = !h5_number(addresses, 8); /* and no extension, no driver */
    for (int at = 8; at <= 24; at += 16) plain = plain && h5_number(addresses + at, 8) == H5_UNDEFINED;
    return plain && f->end <= file_bytes && h5_number(root + 16, 4) <= GROUP_CACHED;
}

bool h5_open(struct h5 *f, int fd, uint64_t bytes)
{
    f->fd = fd;
    f->bytes = f->end = bytes;
    for (int slot = 0; slot < H5_BLOCKS; slot++) f->number[slot] = H5_UNDEFINED;
    unsigned char first[SUPERBLOCK_BYTES];
    return h5_read(f, 0, sizeof first, first) && superblock(f, first, bytes);
}

static bool message_is_known(uint16_t type)
{
    const uint32_t known = 1u << H5_NIL | 1u << H5_DATASPACE | 1u << H5_LINK_INFO | 1u << H5_DATATYPE |
                           1u << H5_FILL_VALUE | 1u << H5_LINK | 1u << H5_LAYOUT | 1u << H5_GROUP_INFO |
                           1u << H5_FILTERS | 1u << H5_ATTRIBUTE | 1u << H5_CONTINUATION | 1u << H5_SYMBOL_TABLE |
                           1u << H5_MODIFIED;
    return type < 32 && known >> type & 1;
}

static bool flags_are_known(uint8_t flags, uint16_t type)
{
    return flags <= (type == H5_DATATYPE ? CONSTANT | SHARED | NOT_TO_BE_SHARED : CONSTANT);
}

struct block {
    uint64_t at, bytes;
};

/* The messages of one block, which all continuations join; returns how many the file counts, -1: damaged. */
static int block_messages(struct h5 *f, struct block block, struct h5_messages *found, struct block *blocks, int *n)
{
    int count = 0;
    for (; block.bytes; count++) {
        unsigned char b[PREFIX_BYTES];
        if (block.bytes < MESSAGE_BYTES || !h5_read(f, block.at, MESSAGE_BYTES, b)) return -1;
        struct h5_message message = {block.at + MESSAGE_BYTES, (uint16_t)h5_number(b, 2), (uint16_t)h5_number(b + 2, 2),
                                     b[4] & SHARED};
        uint64_t bytes = MESSAGE_BYTES + (uint64_t)message.size;
        if (!message_is_known(message.type) || !flags_are_known(b[4], message.type) || bytes % 8 || bytes > block.bytes)
            return -1;
        if (message.type == H5_CONTINUATION) {
            if (*n == H5_MOST_MESSAGES || message.size < 16 || !h5_read(f, message.at, 16, b)) return -1;
            blocks[(*n)++] = (struct block){h5_number(b, 8), h5_number(b + 8, 8)};
        } else {
            if (found->count == H5_MOST_MESSAGES) return -1;
            found->of[found->count++] = message;
        }
        block.at += bytes;
        block.bytes -= bytes;
    }
    return count;
}

/* IV.A.1.a: version 1. */
bool h5_messages(struct h5 *f, uint64_t header, struct h5_messages *found)
{
    unsigned char prefix[PREFIX_BYTES];
    struct block blocks[H5_MOST_MESSAGES];
    int n = 1, count = 0;
    found->count = 0;
    if (!h5_read(f, header, sizeof prefix, prefix) || prefix[0] != 1) return false;
    blocks[0] = (struct block){header + PREFIX_BYTES, h5_number(prefix + 8, 4)};
    for (int i = 0; i < n; i++) {
        int more = block_messages(f, blocks[i], found, blocks, &n);
        if (more < 0) return false;
        count += more;
    }
    return count == (int)h5_number(prefix + 2, 2);
}

const struct h5_message *h5_only(const struct h5_messages *all, enum h5_message_type type)
{
    const struct h5_message *found = NULL;
    for (int i = 0; i < all->count; i++) {
        if (all->of[i].type != type) continue;
        if (found) return NULL;
        found = &all->of[i];
    }
    return found;
}
