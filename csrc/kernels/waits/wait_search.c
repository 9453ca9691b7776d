/* Chooses the candidate that holds a call, and keeps the wait states that were found. */
#include "waits/internal/wait_search.h"

#include <stdlib.h>

int waits_more(struct waits *w, void **rows, int64_t *room, int64_t n, size_t size)
{
    if (n < *room) return 1;
    int64_t want = *room ? 2 * *room : 64;
    void *bigger = realloc(*rows, (size_t)want * size);
    if (!bigger) {
        w->failed = 1;
        return 0;
    }
    *rows = bigger;
    *room = want;
    return 1;
}

void waits_emit(struct waits *w, const struct wait_candidate *by, struct wait_state state)
{
    if (!MORE(w, w->found, w->found_room, w->n_found)) return;
    state.cause_enter = by->until;
    state.lane = by->lane;
    state.cause = by->cause;
    state.kind = by->kind;
    int64_t first = by->kind <= WAITS_LATE_RECEIVER ? by->until : by->first;
    state.first = min_i64(max_i64(first, state.enter), state.end);
    w->found[w->n_found++] = state;
}

void waits_hold(struct judged *call, struct wait_candidate c)
{
    if (c.kind == WAITS_LATE_SENDER && c.first > call->exit) c.kind = WAITS_WRONG_ORDER;
    int64_t end = min_i64(c.until, call->exit), best = min_i64(call->by.until, call->exit);
    if (call->held && (end < best || (end == best && c.kind > call->by.kind))) return;
    call->by = c;
    call->held = 1;
}
