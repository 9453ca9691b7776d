/* Hash table of lists. The caller that adds an entry owns it. */
#include "common/table.h"

#include <stdlib.h>
#include <string.h>

static size_t place_of_key(const struct key *key, size_t room)
{
    uint64_t x = key->a * 0x9e3779b97f4a7c15u ^ key->b * 0xc2b2ae3d27d4eb4fu ^ key->c * 0x165667b19e3779f9u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return (size_t)(x ^ x >> 29) & (room - 1);
}

static bool grow_table(struct table *table)
{
    struct table larger = {NULL, table->n, table->room ? 2 * table->room : 64};
    larger.at = calloc(larger.room, sizeof *larger.at);
    if (!larger.at) return false;
    for (size_t i = 0; i < table->room; i++)
        for (struct entry *next, *entry = table->at[i]; entry; entry = next) {
            struct entry **to = &larger.at[place_of_key(&entry->key, larger.room)];
            next = entry->next;
            entry->next = *to;
            *to = entry;
        }
    free(table->at);
    *table = larger;
    return true;
}

void *table_find(const struct table *table, const struct key *key)
{
    struct entry *entry = table->room ? table->at[place_of_key(key, table->room)] : NULL;
    while (entry && (entry->key.a != key->a || entry->key.b != key->b || entry->key.c != key->c)) entry = entry->next;
    return entry;
}

static bool add_entry(struct table *table, struct entry *entry)
{
    if (table->n == table->room && !grow_table(table)) return false;
    struct entry **to = &table->at[place_of_key(&entry->key, table->room)];
    entry->next = *to;
    *to = entry;
    table->n++;
    return true;
}

void *table_find_or_add(struct table *table, const struct key *key, struct pool *pool)
{
    struct entry *entry = table_find(table, key);
    if (entry) return entry;
    entry = pool_take(pool);
    if (!entry) return NULL;
    memset(entry, 0, pool->size);
    entry->key = *key;
    if (add_entry(table, entry)) return entry;
    pool_give(pool, entry);
    return NULL;
}

void table_remove(struct table *table, const struct entry *entry)
{
    struct entry **at = &table->at[place_of_key(&entry->key, table->room)];
    while (*at != entry) at = &(*at)->next;
    *at = entry->next;
    table->n--;
}
