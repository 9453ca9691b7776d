#ifndef BLOCK_PIECES_H
#define BLOCK_PIECES_H

#include <stdint.h>

/* Consecutive rows of one thread in a table. */
struct piece {
    int64_t thread, first, count;
};

/* Find the rows that n blocks (struct file_block) name in the buffered table with the number `table`, which has
   `length` rows. Writes at most n pieces, in the order of the blocks; dropped blocks have none. join: merge adjacent
   pieces of one thread, if the blocks are in order. named: receives the number behind the last row that a block
   names. Returns the number of pieces. */
int64_t block_pieces(const void *blocks, int64_t n, int64_t table, int64_t length, int32_t join, struct piece *pieces,
                     int64_t *named);

#endif
