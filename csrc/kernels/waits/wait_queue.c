/* Candidates of a lane in order of completion: a heap of references, so that they themselves stay where they are. */
#include "waits/internal/wait_queue.h"

void waits_push(struct waits *w, struct lane *lane, const struct wait_candidate *c)
{
    int64_t at = w->n_free ? w->free_[--w->n_free] : w->n_kept;
    if (at == w->n_kept) {
        if (!MORE(w, w->kept, w->kept_room, w->n_kept)) return;
        w->n_kept++;
    }
    w->kept[at] = *c;
    if (!MORE(w, lane->heap, lane->heap_room, lane->n_heap)) return;
    int64_t i = lane->n_heap++;
    for (; i && lane->heap[(i - 1) / 2].complete > c->complete; i = (i - 1) / 2)
        lane->heap[i] = lane->heap[(i - 1) / 2];
    lane->heap[i] = (struct key){c->complete, at};
}

struct wait_candidate waits_pop(struct waits *w, struct lane *lane)
{
    int64_t at = lane->heap[0].at;
    struct key last = lane->heap[--lane->n_heap];
    int64_t i = 0, child;
    while ((child = 2 * i + 1) < lane->n_heap) {
        if (child + 1 < lane->n_heap && lane->heap[child + 1].complete < lane->heap[child].complete) child++;
        if (lane->heap[child].complete >= last.complete) break;
        lane->heap[i] = lane->heap[child];
        i = child;
    }
    lane->heap[i] = last;
    if (MORE(w, w->free_, w->free_room, w->n_free)) w->free_[w->n_free++] = at;
    return w->kept[at];
}
