#ifndef BLOCK_PIECES_H
#define BLOCK_PIECES_H

#include <stdint.h>

/* Consecutive rows of one thread in a table. */
struct piece {
    int64_t thread, first, count;
};

/* The rows that n blocks (struct file_block) name in the buffered table of this number, which has `length` rows: as
   many pieces as that at most, in the order of the blocks. Those that were dropped have none. join: neighbours of one
   thread are one piece, where the blocks are in order. named: behind the last row that a block names. Returns their
   number. */
int64_t block_pieces(const void *blocks, int64_t n, int64_t table, int64_t length, int32_t join, struct piece *pieces,
                     int64_t *named);

#endif
