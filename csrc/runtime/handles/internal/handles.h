/* From MPI's handles to what the library knows behind them: open addressing, linear probing. */
#ifndef HANDLES_H
#define HANDLES_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi/abi.h"

struct handle_slot {
    word handle;
    void *entry; /* NULL with used: removed */
    bool used;
};

/* All zero is an empty map. Not for two threads at once. Entries are the caller's. */
struct handle_map {
    struct handle_slot *slots;
    size_t room, used;
};

void *handles_find(const struct handle_map *map, word handle);

/* Add, or replace what the handle stood for. False: no memory, the map is as before. */
bool handles_put(struct handle_map *map, word handle, void *entry);
void handles_remove(struct handle_map *map, word handle);

#endif
