/* Which slot each open request has: a hash table by the time of posting. */
#include "slots.h"

#include <stdbool.h>
#include <stdlib.h>

static size_t place(int64_t posted, size_t room)
{
    return (size_t)((uint64_t)posted * 0x9e3779b97f4a7c15u >> 20) & (room - 1);
}

static bool grow(struct slots *slots)
{
    size_t room = slots->room ? 2 * slots->room : 64, old = slots->room;
    struct open_request *from = slots->requests, *to = calloc(room, sizeof *to);
    if (!to) return false;
    for (size_t i = 0; i < old; i++) {
        if (!from[i].used) continue;
        size_t k = place(from[i].posted, room);
        while (to[k].used) k = (k + 1) & (room - 1);
        to[k] = from[i];
    }
    free(from);
    slots->requests = to;
    slots->room = room;
    return true;
}

int32_t slots_take(struct slots *slots, struct open_request *request)
{
    if (2 * (slots->n + 1) > slots->room && !grow(slots)) return -1;
    request->slot = request->shared ? slots->shared++ : slots->n_free ? slots->free[--slots->n_free] : slots->own++;
    request->used = true;
    size_t k = place(request->posted, slots->room);
    while (slots->requests[k].used) k = (k + 1) & (slots->room - 1);
    slots->requests[k] = *request;
    slots->n++;
    return request->slot;
}

static void close_gap(struct slots *slots, size_t hole)
{
    size_t mask = slots->room - 1;
    for (size_t k = (hole + 1) & mask; slots->requests[k].used; k = (k + 1) & mask) {
        size_t home = place(slots->requests[k].posted, slots->room);
        if (((k - home) & mask) < ((k - hole) & mask)) continue;
        slots->requests[hole] = slots->requests[k];
        hole = k;
    }
    slots->requests[hole].used = false;
}

static bool keep_slot(struct slots *slots, int32_t slot)
{
    if (slots->n_free == slots->free_room) {
        size_t room = slots->free_room ? 2 * slots->free_room : 64;
        int32_t *larger = realloc(slots->free, room * sizeof *larger);
        if (!larger) return false;
        slots->free = larger;
        slots->free_room = room;
    }
    slots->free[slots->n_free++] = slot;
    return true;
}

static bool is_same(const struct open_request *a, const struct open_request *b)
{
    return a->posted == b->posted && a->peer == b->peer && a->tag == b->tag && a->comm == b->comm;
}

int32_t slots_give(struct slots *slots, struct open_request *request)
{
    if (!slots->room) return 0;
    size_t k = place(request->posted, slots->room);
    for (; slots->requests[k].used; k = (k + 1) & (slots->room - 1)) {
        if (!is_same(&slots->requests[k], request)) continue;
        *request = slots->requests[k];
        slots->n--;
        close_gap(slots, k);
        return request->shared || keep_slot(slots, request->slot) ? 1 : -1;
    }
    return 0;
}

void slots_free(struct slots *slots)
{
    free(slots->requests);
    free(slots->free);
}
