#include "handles/internal/handles.h"

#include <stdlib.h>

#include "handles/ids.h"

static size_t place_of_handle(word handle, size_t room)
{
    return (size_t)ids_mix((uint64_t)handle) & (room - 1);
}

static struct handle_slot *find_handle_slot(const struct handle_map *map, word handle)
{
    if (!map->room) return NULL;
    for (size_t i = place_of_handle(handle, map->room);; i = (i + 1) & (map->room - 1)) {
        struct handle_slot *s = &map->slots[i];
        if (!s->used) return NULL;
        if (s->entry && s->handle == handle) return s;
    }
}

static bool grow_map(struct handle_map *map)
{
    size_t room = map->room ? map->room * 2 : 64;
    struct handle_slot *slots = calloc(room, sizeof *slots), *old = map->slots;
    if (!slots) return false;
    map->used = 0;
    for (size_t i = 0; i < map->room; i++) {
        if (!old[i].used || !old[i].entry) continue;
        size_t j = place_of_handle(old[i].handle, room);
        while (slots[j].used) j = (j + 1) & (room - 1);
        slots[j] = old[i];
        map->used++;
    }
    map->slots = slots;
    map->room = room;
    free(old);
    return true;
}

void *handles_find(const struct handle_map *map, word handle)
{
    struct handle_slot *s = find_handle_slot(map, handle);
    return s ? s->entry : NULL;
}

bool handles_put(struct handle_map *map, word handle, void *entry)
{
    struct handle_slot *present = find_handle_slot(map, handle);
    if (present) {
        present->entry = entry;
        return true;
    }
    if (2 * (map->used + 1) > map->room && !grow_map(map)) return false;
    size_t i = place_of_handle(handle, map->room);
    while (map->slots[i].used && map->slots[i].entry) i = (i + 1) & (map->room - 1);
    if (!map->slots[i].used) map->used++;
    map->slots[i] = (struct handle_slot){handle, entry, true};
    return true;
}

void handles_remove(struct handle_map *map, word handle)
{
    struct handle_slot *s = find_handle_slot(map, handle);
    if (s) s->entry = NULL;
}
