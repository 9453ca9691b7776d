#ifndef TABLE_H
#define TABLE_H
/* What is found by a key. */

#include "common/memory.h"

/* What a send and its receive have in common: (application and run, communicator), (source, destination), (tag, message
   where the trace names it). */
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

/* table.c: entries are their owners', the first member of what comes from a pool, zeroed. table_find_or_add is NULL: no
   memory */
void *table_find(const struct table *table, const struct key *key);
void *table_find_or_add(struct table *table, const struct key *key, struct pool *pool);
void table_remove(struct table *table, const struct entry *entry);

#endif
