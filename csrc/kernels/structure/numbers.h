#ifndef STRUCTURE_NUMBERS_H
#define STRUCTURE_NUMBERS_H
#include <stdint.h>

/* Numbers for different keys, from 0 in order of appearance. */
struct numbering;

/* Create an empty numbering. Returns NULL if there is no memory. */
struct numbering *numbering_new(void);

/* Free a numbering. */
void numbering_free(struct numbering *numbering);

/* Write the number of each of n keys to `numbers`. Returns 0; -1: no memory. */
int64_t numbering_feed(struct numbering *numbering, const uint64_t *keys, int64_t n, int32_t *numbers);

/* Return the number of different keys. */
int64_t numbering_count(const struct numbering *numbering);

/* Write the place of each number in the order of the keys' values. place: room for numbering_count. Returns 0; -1:
   no memory. */
int64_t numbering_order(const struct numbering *numbering, int32_t *place);

/* Number the different runs of `context` symbols (a power of 2) that end at each of n symbols. The numbers, from 0,
   are in order of a hash of 64 bits. Other symbols stand before the first one. numbers: room for n. Returns the
   number of different runs; -1: no memory. */
int64_t numbers_in_context(const int32_t *symbols, int64_t n, int64_t context, int32_t *numbers);

/* Find the places of each of `kinds` numbers among n. The places of number k, ascending, are those from begin[k] up
   to begin[k + 1]. Room: kinds + 1 in `begin`, n in `places`. */
void places_of_numbers(const int32_t *numbers, int64_t n, int64_t kinds, int32_t *begin, int32_t *places);

#endif
