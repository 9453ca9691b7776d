/* Failing polls: kept until an operation completes, for which they waited. */
#include "waits/internal/wait_polls.h"

#include <string.h>

/* The part of a time that `part` of the whole is. */
static int64_t share(int64_t time, int64_t part, int64_t whole)
{
    return whole > 0 ? (int64_t)((__int128)time * part / whole) : 0;
}

/* One run of failing polls waits for `by`: what it spent in MPI before `until`, as its last part; what lies between its
   polls, and up to the next one at `next`, was computed meanwhile, but for what is hidden and `others` in other calls.
 */
static int wait_in_poll(struct waits *w, const struct poll *p, const struct wait_candidate *by, int64_t next,
                        int64_t others, int64_t polled)
{
    int64_t end = min_i64(by->until, p->exit), lasted = end - p->enter;
    if (lasted <= 0) return 0;
    int64_t waited = min_i64(share(p->inside, lasted, p->exit - p->enter), lasted);
    int64_t after = max_i64(0, min_i64(by->until, next) - p->exit);
    int64_t computed = max_i64(0, lasted - waited - share(p->hidden, lasted, p->exit - p->enter));
    int64_t overlap = computed + max_i64(0, min_i64(after, next - p->exit - others));
    struct wait_state state = {
        .enter = end - waited, .end = end, .exit = p->exit, .call = p->call, .overlap = overlap, .polled = polled};
    waits_emit(w, by, state);
    return 1;
}

int polls_settle(struct waits *w, struct polls *list, int64_t n, const struct judged *call, int all)
{
    int64_t kept = 0, waits = 0;
    if (!n) return 0;
    for (int64_t k = 0; k < n; k++) {
        const struct poll *p = &list->rows[k];
        int mine = all || !call->held || p->enter >= call->by.posted;
        if (mine && call->held) {
            int last = k + 1 == n;
            waits += wait_in_poll(w, p, &call->by, last ? call->enter : p[1].enter, last ? call->others : p[1].others,
                                  waits ? 2 : 1);
        }
        if (!mine) list->rows[kept++] = *p;
    }
    memmove(list->rows + kept, list->rows + n, (size_t)(list->n - n) * sizeof *list->rows);
    list->n -= n - kept;
    return waits > 0;
}

void polls_add(struct waits *w, struct polls *list, const struct judged *call)
{
    if (list->n >= w->most_polls) { /* two neighbours become one */
        int64_t half = list->n / 2;
        for (int64_t k = 0; k < half; k++) {
            struct poll a = list->rows[2 * k], b = list->rows[2 * k + 1];
            int64_t hidden = a.hidden + b.hidden + b.others;
            list->rows[k] = (struct poll){a.enter, b.exit, a.inside + b.inside, hidden, a.others, a.call};
        }
        if (list->n % 2) list->rows[half] = list->rows[list->n - 1];
        list->n -= half;
    }
    if (!MORE(w, list->rows, list->room, list->n)) return;
    list->rows[list->n++] =
        (struct poll){call->enter, call->exit, call->inside, call->hidden, list->others, call->call};
    list->others = 0;
}
