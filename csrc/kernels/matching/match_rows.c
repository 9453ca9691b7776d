/* Rows of a rank of one thread to the matcher: the usual case, without a copy in Python. */
#include <stdlib.h>

#include "matching/internal/matcher.h"
#include "matching/match.h"
#include "rows/inline/time_order.h"

/* Room for n halves; NULL: no memory. */
static struct half *room_for(struct matcher *m, int64_t n)
{
    if (n <= m->halves_room) return m->halves;
    struct half *halves = realloc(m->halves, (size_t)n * sizeof *halves);
    if (!halves) return NULL;
    m->halves = halves;
    m->halves_room = n;
    return halves;
}

static int halves_are_ordered(const struct half *halves, int64_t n)
{
    int64_t k = 1;
    while (k < n && halves[k - 1].posted <= halves[k].posted) k++;
    return k >= n;
}

/* Halves in order of posting, equal ones in theirs: `halves`, or `sorted`. NULL: no memory. */
static struct half *sort_halves(struct half *halves, int64_t n, struct half *sorted)
{
    if (halves_are_ordered(halves, n)) return halves;
    struct timed_row *order = malloc((size_t)(n + n / 2) * sizeof *order);
    if (!order) return NULL;
    for (int64_t k = 0; k < n; k++) order[k] = (struct timed_row){halves[k].posted, k};
    time_order(order, n, order + n);
    for (int64_t k = 0; k < n; k++) sorted[k] = halves[order[k].row];
    free(order);
    return sorted;
}

static int all_known(const struct matcher *m, const struct half *halves, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        int32_t peer = halves[k].peer;
        if (halves[k].comm < 0 || peer < 0 || peer >= m->ranks || !m->present[peer]) return 0;
    }
    return 1;
}

int match_add_rows(struct matcher *m, const struct lane *lane, const void *calls, int64_t n_calls, const void *requests,
                   int64_t n_requests, int64_t late, int64_t begin, int64_t end)
{
    if (match_cancels(requests, n_requests + late)) return MATCH_UNUSUAL;
    int64_t most = n_calls + n_requests + late;
    if (!most) return MATCH_ADDED;
    struct half *sends = room_for(m, 3 * most), *receives = sends + most;
    if (!sends) return MATCH_NO_MEMORY;
    int64_t n_sends = match_sends(lane, calls, n_calls, requests, n_requests, sends);
    int64_t n_receives = match_receives(lane, calls, n_calls, requests, n_requests + late, begin, end, receives);
    int usual =
        halves_are_ordered(sends, n_sends) && all_known(m, sends, n_sends) && all_known(m, receives, n_receives);
    if (!usual) return MATCH_UNUSUAL;
    receives = sort_halves(receives, n_receives, receives + most);
    if (!receives) return MATCH_NO_MEMORY;
    match_names(lane, calls, n_calls, sends, n_sends);
    match_names(lane, calls, n_calls, receives, n_receives);
    int failed =
        match_add_sends(m, lane->rank, sends, n_sends) || match_add_receives(m, lane->rank, receives, n_receives);
    return failed ? MATCH_NO_MEMORY : MATCH_ADDED;
}
