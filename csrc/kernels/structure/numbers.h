#ifndef STRUCTURE_NUMBERS_H
#define STRUCTURE_NUMBERS_H
#include <stdint.h>

/* Different keys, numbered from 0 in the order in which they come. */
struct numbering;

/* NULL: no memory. */
struct numbering *numbering_new(void);
void numbering_free(struct numbering *numbering);

/* The number of each of n keys. 0; -1: no memory. */
int64_t numbering_feed(struct numbering *numbering, const uint64_t *keys, int64_t n, int32_t *numbers);

/* How many there are. */
int64_t numbering_count(const struct numbering *numbering);

/* The place of each number if keys were in order of their values; room: numbering_count. 0; -1: no memory. */
int64_t numbering_order(const struct numbering *numbering, int32_t *place);

/* A number, from 0, for each different run of `context` symbols (a power of 2) up to each of n symbols, in order of a
   hash of 64 bits; before the first one there are others. Returns how many differ; -1: no memory. */
int64_t numbers_in_context(const int32_t *symbols, int64_t n, int64_t context, int32_t *numbers);

/* Where each of `kinds` numbers occurs among n: the places of number k, ascending, are those from begin[k] on, begin[k
   + 1] - begin[k] of them. Room: `begin` kinds + 1, `places` n. */
void places_of_numbers(const int32_t *numbers, int64_t n, int64_t kinds, int32_t *begin, int32_t *places);

#endif
