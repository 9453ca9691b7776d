/* Finds the rows of a table that belong to each thread, by the blocks of the file. */
#include "rows/block_pieces.h"

#include <stdbool.h>

#include "records.h"

static bool are_in_order(const struct piece *pieces, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (pieces[i].first < pieces[i - 1].first) return false;
    return true;
}

static int64_t joined(struct piece *pieces, int64_t n)
{
    struct piece *last = pieces;
    for (int64_t i = 1; i < n; i++) {
        if (pieces[i].thread == last->thread && pieces[i].first == last->first + last->count)
            last->count += pieces[i].count;
        else
            *++last = pieces[i];
    }
    return n ? last - pieces + 1 : 0;
}

/* `first` may be anything in a damaged file: such a block names no row of the table. */
int64_t block_pieces(const void *blocks, int64_t n, int64_t table, int64_t length, int32_t join, struct piece *pieces,
                     int64_t *named)
{
    const struct file_block *block = blocks;
    struct piece *to = pieces;
    *named = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t first = block[i].first[table], count = block[i].count[table];
        if (first > (uint64_t)length) first = (uint64_t)length;
        int64_t begin = (int64_t)first, end = begin + (block[i].flags & BLOCK_UNWRITTEN ? 0 : (int64_t)count);
        if (end > *named) *named = end;
        if (block[i].flags & BLOCK_DROPPED) continue;
        int64_t rest = length - begin, rows = (int64_t)count < rest ? (int64_t)count : rest;
        if (rows) *to++ = (struct piece){block[i].thread, begin, rows};
    }
    return join && are_in_order(pieces, to - pieces) ? joined(pieces, to - pieces) : to - pieces;
}
