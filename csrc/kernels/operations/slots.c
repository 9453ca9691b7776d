/* Which slot each open request has. */
#include "operations/slots.h"

#include <stdbool.h>
#include <stdlib.h>

#include "common/array.h"

enum { LEAST_ROOM = 64 };

/* Room for one more: gaps are closed where they are many, so that each request is moved a few times at most. */
static bool make_room_for_slot(struct slots *slots)
{
    size_t kept = 0;
    for (size_t k = slots->first; k < slots->end; k++)
        if (!slots->at[k].gone) slots->at[kept++] = slots->at[k];
    slots->first = 0;
    slots->end = kept;
    return 2 * kept < slots->room || ARRAY_GROW(slots->at, slots->room, LEAST_ROOM);
}

/* Make room to give all slots back. */
static bool make_free_room(struct slots *slots)
{
    return ARRAY_GROW(slots->free, slots->free_room, LEAST_ROOM);
}

/* A program that repeats itself has the same slots again: whenever nothing is open, they are taken from the first on.
 */
static int32_t take_free_slot(struct slots *slots)
{
    if (slots->n_free) return slots->free[--slots->n_free];
    if (slots->next == slots->own) slots->own++;
    return slots->next++;
}

struct open_request *slots_take(struct slots *slots, int64_t posted, int32_t peer, int32_t tag, int32_t comm,
                                int32_t shared)
{
    if (slots->end == slots->room && !make_room_for_slot(slots)) return NULL;
    if ((size_t)slots->own >= slots->free_room && !make_free_room(slots)) return NULL;
    struct open_request *request = &slots->at[slots->end];
    if (slots->end > slots->first) slots->is_unordered |= posted < request[-1].posted;
    request->posted = posted;
    request->peer = peer;
    request->tag = tag;
    request->comm = comm;
    request->slot = shared ? slots->shared++ : take_free_slot(slots);
    request->shared = shared;
    request->gone = false;
    slots->end++;
    slots->n++;
    return request;
}

static bool is_it(const struct open_request *request, int64_t posted, int32_t peer, int32_t tag, int32_t comm)
{
    return request->posted == posted && request->peer == peer && request->tag == tag && request->comm == comm &&
           !request->gone;
}

/* The first of [first, end) that was posted at `posted` or later. */
static size_t first_slot_at(const struct slots *slots, int64_t posted)
{
    size_t low = slots->first, high = slots->end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (slots->at[middle].posted < posted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Return the index of the request; slots->end: it is not there. */
static size_t find_slot_of(const struct slots *slots, int64_t posted, int32_t peer, int32_t tag, int32_t comm)
{
    size_t k = slots->is_unordered ? slots->first : first_slot_at(slots, posted);
    for (; k < slots->end && (slots->is_unordered || slots->at[k].posted == posted); k++)
        if (is_it(&slots->at[k], posted, peer, tag, comm)) return k;
    return slots->end;
}

static void forget_all(struct slots *slots)
{
    slots->first = slots->end = slots->n_free = 0;
    slots->next = slots->is_unordered = 0;
}

const struct open_request *slots_give(struct slots *slots, int64_t posted, int32_t peer, int32_t tag, int32_t comm)
{
    size_t k = slots->first;
    if (k == slots->end) return NULL;
    if (!is_it(&slots->at[k], posted, peer, tag, comm)) k = find_slot_of(slots, posted, peer, tag, comm);
    if (k == slots->end) return NULL;
    struct open_request *found = &slots->at[k];
    found->gone = true;
    if (!found->shared) slots->free[slots->n_free++] = found->slot;
    if (--slots->n == 0)
        forget_all(slots);
    else
        while (slots->at[slots->first].gone) slots->first++;
    return found;
}

void slots_free(struct slots *slots)
{
    free(slots->at);
    free(slots->free);
}
