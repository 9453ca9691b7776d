/* Sends that another call completes: from the call that sent to the one that waited. */
#include "waits/internal/wait_sends.h"

#include <stdlib.h>
#include <string.h>

#include "records.h"
#include "waits/internal/wait_queue.h"

/* The first send of this request that is not complete, among n by time; n: none. */
static int64_t sent_by(const struct wait_candidate *sent, int64_t n, const struct trace_request *r)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (sent[middle].posted < r->posted)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < n && sent[low].posted == r->posted; low++)
        if (sent[low].peer == r->peer && sent[low].tag == r->tag && sent[low].complete == r->posted) return low;
    return n;
}

/* A send is held by the call that completed it, if that returned after its receive was posted: others MPI has
   buffered. */
static void complete_send(struct waits *w, struct wait_candidate *c)
{
    c->kind = WAITS_LATE_RECEIVER;
    if (c->until < c->complete) waits_push(w, &w->lanes[c->lane], c);
}

/* One send of `poster` is complete, by thread `lane`. Returns whether it is one that may have had to wait. */
static int complete_sent(struct waits *w, struct lane *poster, const struct trace_request *r, int32_t lane)
{
    int64_t n = poster->n_begun, at = sent_by(poster->begun, n, r);
    if (at < n) {
        struct wait_candidate c = poster->begun[at];
        memmove(poster->begun + at, poster->begun + at + 1, (size_t)(--poster->n_begun - at) * sizeof c);
        c.complete = r->completed;
        c.lane = lane;
        complete_send(w, &c);
        return 1;
    }
    struct wait_candidate *sent = w->sent + poster->sent;
    n = poster->sent_end - poster->sent;
    at = sent_by(sent, n, r);
    if (at == n) return 0;
    sent[at].complete = r->completed; /* known when the call comes that sent it */
    sent[at].lane = lane;
    return 1;
}

void waits_done(struct waits *w, const void *requests, int64_t n, int32_t first, int32_t threads)
{
    const struct trace_request *r = requests;
    for (int64_t i = 0; i < n; i++, r++) {
        if (r->what != WHAT_SEND_DONE) continue;
        int32_t lane = first + (r->thread < threads ? r->thread : threads - 1);
        for (int32_t t = 0; t < threads; t++)
            if (complete_sent(w, &w->lanes[first + t], r, lane)) break;
    }
}

void waits_take_sent(struct waits *w, struct lane *lane)
{
    struct judged *call = &lane->now;
    while (lane->sent < lane->sent_end && w->sent[lane->sent].posted <= call->enter) {
        struct wait_candidate *c = &w->sent[lane->sent++];
        if (c->posted != call->enter || call->role & WAITS_BUFFERS) continue;
        if (call->role & WAITS_SENDS) {
            c->kind = WAITS_LATE_RECEIVER;
            if (c->until < call->exit) waits_hold(call, *c);
        } else if (c->complete != c->posted) {
            complete_send(w, c);
        } else if (MORE(w, lane->begun, lane->begun_room, lane->n_begun)) {
            lane->begun[lane->n_begun++] = *c;
        }
    }
}

/* Puts the sends of a window in order of their lanes; they come in order of time. */
int waits_sort_sent(struct waits *w, const struct wait_candidate *c, int64_t n, int64_t first, int64_t stop)
{
    int64_t sent = 0;
    for (int64_t i = first; i < stop; i++) w->lanes[i].sent = w->lanes[i].sent_end = 0;
    for (int64_t i = 0; i < n; i++)
        if (c[i].kind == WAITS_SENT) w->lanes[c[i].lane].sent_end++, sent++;
    if (sent > w->sent_room) {
        struct wait_candidate *bigger = realloc(w->sent, (size_t)sent * sizeof *bigger);
        if (!bigger) return -1;
        w->sent = bigger;
        w->sent_room = sent;
    }
    int64_t at = 0;
    for (int64_t i = first; i < stop; i++) {
        struct lane *lane = &w->lanes[i];
        int64_t count = lane->sent_end;
        lane->sent = lane->sent_end = at;
        at += count;
    }
    for (int64_t i = 0; i < n; i++)
        if (c[i].kind == WAITS_SENT) w->sent[w->lanes[c[i].lane].sent_end++] = c[i];
    return 0;
}
