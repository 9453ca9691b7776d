#ifndef TABLE_H
#define TABLE_H
/* Hash table of entries that are found by a key. */

#include "common/memory.h"

/* Key that a send and its receive have in common: (application and run, communicator), (source, destination), (tag,
   message where the trace names it). */
struct key {
    uint64_t a, b, c;
};

/* In a table: the first member of what it holds. */
struct entry {
    struct key key;
    struct entry *next;
};

struct table {
    struct entry **at;
    size_t n, room; /* a power of two */
};

/* Functions of table.c. The caller owns the entries. An entry is the first member of a zeroed block of a pool.
   table_find returns NULL if there is no such entry, table_find_or_add if there is no memory. */
void *table_find(const struct table *table, const struct key *key);
void *table_find_or_add(struct table *table, const struct key *key, struct pool *pool);
void table_remove(struct table *table, const struct entry *entry);

#endif
