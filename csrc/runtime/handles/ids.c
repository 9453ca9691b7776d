#include "handles/ids.h"

#include <stdlib.h>

/* How often (parent, members) has come: the part of an id that tells repetitions apart. */
struct repetition {
    uint64_t key;
    uint32_t count;
};
static struct {
    struct repetition *entries;
    size_t room, used;
} repetitions;

static uint64_t hash_members(uint64_t h, const uint32_t *members, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) h = ids_mix(h ^ members[i]) + i;
    return ids_mix(h ^ n);
}

uint32_t ids_count(uint64_t key)
{
    if (2 * (repetitions.used + 1) > repetitions.room) {
        size_t room = repetitions.room ? repetitions.room * 2 : 64;
        struct repetition *entries = calloc(room, sizeof *entries);
        if (!entries) return 0;
        for (size_t i = 0; i < repetitions.room; i++) {
            if (!repetitions.entries[i].count) continue;
            size_t j = repetitions.entries[i].key & (room - 1);
            while (entries[j].count) j = (j + 1) & (room - 1);
            entries[j] = repetitions.entries[i];
        }
        free(repetitions.entries);
        repetitions.entries = entries;
        repetitions.room = room;
    }
    size_t i = key & (repetitions.room - 1);
    while (repetitions.entries[i].count && repetitions.entries[i].key != key) i = (i + 1) & (repetitions.room - 1);
    struct repetition *r = &repetitions.entries[i];
    if (!r->count) repetitions.used++;
    r->key = key;
    return ++r->count;
}

/* The id of the next thing with this key. Small ids are world and self. */
static uint64_t numbered_id(uint64_t key)
{
    uint64_t id = ids_mix(key + ids_count(key));
    return id > UINT32_MAX ? id : id + (UINT64_C(1) << 32);
}

/* Both sides of an intercommunicator must get the same id: the side whose first member is lower counts first. */
uint64_t ids_derive(uint64_t parent, const uint32_t *members, uint32_t size, const uint32_t *remote,
                    uint32_t remote_size)
{
    uint64_t a = hash_members(1, members, size), b = remote_size ? hash_members(1, remote, remote_size) : 0;
    if (remote_size && remote[0] < members[0]) {
        uint64_t swap = a;
        a = b;
        b = swap;
    }
    return numbered_id(ids_mix(ids_mix(parent) + ids_mix(a) * 3 + ids_mix(b) * 5));
}

uint64_t ids_derive_object(uint64_t comm, uint32_t kind)
{
    return numbered_id(ids_mix(ids_mix(comm) + ids_mix(kind) * 7));
}

uint64_t ids_of_text(const char *text, size_t length)
{
    uint64_t h = ids_mix(length + 1);
    for (size_t i = 0; i < length; i++) h = ids_mix(h ^ (unsigned char)text[i]) + i;
    return ids_mix(h);
}
