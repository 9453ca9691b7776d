/* A map from MPI's handles to entries of the library: open addressing, linear probing. */
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

/* An empty map is all zero. The caller owns the entries, and a lock if several threads use the map. */
struct handle_map {
    struct handle_slot *slots;
    size_t room, used;
};

/* Return the entry of a handle; NULL if there is none. */
void *handles_find(const struct handle_map *map, word handle);

/* Set the entry of a handle. Returns false if there is no memory; then the map is as before. */
bool handles_put(struct handle_map *map, word handle, void *entry);

/* Remove a handle, if it is there. */
void handles_remove(struct handle_map *map, word handle);

#endif
