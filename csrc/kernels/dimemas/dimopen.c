/* A wait names source, tag, communicator and size, but not which of several equal operations it is for. Equal
   operations complete in order. */
#include "dimemas/dimopen.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NOBODY = -1, FIRST_ROOM = 64 };

/* An open operation; its index is its slot. */
struct entry {
    int64_t bytes;
    int32_t next; /* of the same queue, or free */
};

/* The operations of one key, which a wait cannot tell apart, in order of their begin. No queue is empty. */
struct queue {
    uint64_t a, b;
    int32_t first, last;
    bool used;
};

struct dim_open {
    struct queue *queues; /* an open hash table */
    size_t n_queues, room;
    struct entry *entries;
    int32_t n_entries, entries_room, free;
};

struct dim_open *dim_open_new(void)
{
    struct dim_open *open = calloc(1, sizeof *open);
    if (open) open->free = NOBODY;
    return open;
}

void dim_open_free(struct dim_open *open)
{
    if (!open) return;
    free(open->queues);
    free(open->entries);
    free(open);
}

void dim_open_clear(struct dim_open *open)
{
    if (open->n_queues) memset(open->queues, 0, open->room * sizeof *open->queues);
    open->n_queues = 0;
    open->n_entries = 0;
    open->free = NOBODY;
}

int32_t dim_open_slots(const struct dim_open *open)
{
    return open->n_entries;
}

static size_t place_of_pair(uint64_t a, uint64_t b, size_t room)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu;
    return (size_t)(x ^ x >> 29) & (room - 1);
}

static struct queue *find_open_queue(struct dim_open *open, uint64_t a, uint64_t b)
{
    size_t k = place_of_pair(a, b, open->room);
    while (open->queues[k].used && (open->queues[k].a != a || open->queues[k].b != b)) k = (k + 1) & (open->room - 1);
    return &open->queues[k];
}

static bool grow_queues(struct dim_open *open)
{
    size_t old = open->room;
    struct queue *from = open->queues, *to = calloc(old ? 2 * old : FIRST_ROOM, sizeof *to);
    if (!to) return false;
    open->queues = to;
    open->room = old ? 2 * old : FIRST_ROOM;
    for (size_t i = 0; i < old; i++)
        if (from[i].used) *find_open_queue(open, from[i].a, from[i].b) = from[i];
    free(from);
    return true;
}

/* Remove an empty queue, and move up the queues that it had pushed away from their places. */
static void drop_queue(struct dim_open *open, struct queue *queue)
{
    size_t mask = open->room - 1, hole = (size_t)(queue - open->queues);
    open->n_queues--;
    for (size_t k = (hole + 1) & mask; open->queues[k].used; k = (k + 1) & mask) {
        size_t home = place_of_pair(open->queues[k].a, open->queues[k].b, open->room);
        if (((k - home) & mask) < ((k - hole) & mask)) continue;
        open->queues[hole] = open->queues[k];
        hole = k;
    }
    open->queues[hole].used = false;
}

static int32_t new_entry(struct dim_open *open)
{
    int32_t slot = open->free;
    if (slot != NOBODY) {
        open->free = open->entries[slot].next;
        return slot;
    }
    if (open->n_entries == open->entries_room) {
        int32_t room = open->entries_room ? 2 * open->entries_room : FIRST_ROOM;
        struct entry *entries = room > 0 ? realloc(open->entries, (size_t)room * sizeof *entries) : NULL;
        if (!entries) return NOBODY;
        open->entries = entries;
        open->entries_room = room;
    }
    return open->n_entries++;
}

int32_t dim_open_add(struct dim_open *open, uint64_t a, uint64_t b, int64_t bytes)
{
    if (2 * (open->n_queues + 1) > open->room && !grow_queues(open)) return NOBODY;
    int32_t slot = new_entry(open);
    if (slot == NOBODY) return NOBODY;
    open->entries[slot] = (struct entry){bytes, NOBODY};
    struct queue *queue = find_open_queue(open, a, b);
    if (queue->used) {
        open->entries[queue->last].next = slot;
        queue->last = slot;
    } else {
        *queue = (struct queue){a, b, slot, slot, true};
        open->n_queues++;
    }
    return slot;
}

int32_t dim_open_take(struct dim_open *open, uint64_t a, uint64_t b, int64_t bytes)
{
    struct queue *queue = open->room ? find_open_queue(open, a, b) : NULL;
    if (!queue || !queue->used) return NOBODY;
    int32_t before = NOBODY, slot = queue->first;
    while (slot != NOBODY && open->entries[slot].bytes != bytes) {
        before = slot;
        slot = open->entries[slot].next;
    }
    if (slot == NOBODY) {
        before = NOBODY;
        slot = queue->first;
    }
    int32_t next = open->entries[slot].next;
    if (before == NOBODY)
        queue->first = next;
    else
        open->entries[before].next = next;
    if (queue->last == slot) queue->last = before;
    if (queue->first == NOBODY) drop_queue(open, queue);
    open->entries[slot].next = open->free;
    open->free = slot;
    return slot;
}
