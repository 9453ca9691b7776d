/* Finds what each call waited for, from its candidates: calls and candidates of a lane are visited together in order of
   time.

   A call is judged when the next call of its lane comes, since then everything that completed in it is known. A
   probe is judged when the receive that it announced is posted. Of several candidates the one that held the call
   longest counts. Polls that failed are kept until the operation for which they waited completes. */
#include "waits/waits.h"

#include <stdlib.h>
#include <string.h>

#include "records.h"
#include "waits/internal/wait_polls.h"
#include "waits/internal/wait_queue.h"
#include "waits/internal/wait_sends.h"

static void wait_in_call(struct waits *w, const struct judged *call, int polled)
{
    if (!call->held || call->by.until <= call->enter) return;
    struct wait_state state = {.enter = call->enter,
                               .end = min_i64(call->by.until, call->exit),
                               .exit = call->exit,
                               .call = call->call,
                               .polled = polled ? 2 : 0};
    waits_emit(w, &call->by, state);
}

/* A probe is over: its receive is posted, or will not be. */
static void end_probe(struct waits *w, struct lane *lane)
{
    if (!lane->probe.known) return;
    wait_in_call(w, &lane->probe, polls_settle(w, &lane->probes, lane->probe_polls, &lane->probe, 1));
    lane->probe_polls = 0;
    lane->probe.known = 0;
}

/* A probe announced this message if it found one of this sender and tag; a call that matches it may follow such a
   probe, or have waited for it itself. */
static void hold_probe(struct waits *w, struct lane *lane, struct wait_candidate c)
{
    c.kind = WAITS_LATE_SENDER;
    if (lane->now.role & WAITS_MATCHES) waits_hold(&lane->now, c);
    if (lane->probe.known && lane->probe.peer == c.peer && (lane->probe.tag < 0 || lane->probe.tag == c.tag)) {
        waits_hold(&lane->probe, c);
        end_probe(w, lane);
    }
}

/* The lane's call is over when all that completed in it is known. */
static void end_call(struct waits *w, struct lane *lane)
{
    struct judged *call = &lane->now;
    while (lane->n_heap && lane->heap[0].complete <= call->exit) {
        struct wait_candidate c = waits_pop(w, lane);
        if (c.complete <= call->enter) continue; /* of a call that was not recorded */
        if (c.kind >= WAITS_LATE_POST && !(call->role & WAITS_ON_WINDOW)) continue;
        if (c.kind == WAITS_PROBED)
            hold_probe(w, lane, c);
        else
            waits_hold(call, c);
    }
    int probes = call->role & (WAITS_PROBES | WAITS_MATCHES), polls = call->role & WAITS_POLLS;
    struct polls *mine = probes ? &lane->probes : &lane->tests, *other = probes ? &lane->tests : &lane->probes;
    other->others += call->inside;
    call->others = mine->others;
    if (polls && call->failed && !call->held) {
        if (probes && mine->n >= w->most_polls) end_probe(w, lane); /* which its polls would be mixed with */
        polls_add(w, mine, call);
    } else if (call->role & WAITS_PROBES) {
        end_probe(w, lane);
        lane->probe = *call;
        lane->probe_polls = lane->probes.n;
        mine->others += call->inside;
    } else {
        if (call->role & WAITS_MATCHES) end_probe(w, lane); /* whose polls are not this one's */
        int over = call->held || call->role & (WAITS_POLLS | WAITS_FINISHES);
        int polled = over && polls_settle(w, mine, mine->n, call, probes != 0);
        wait_in_call(w, call, polled);
        mine->others += call->inside;
    }
    call->known = 0;
}

static void walk_calls(struct waits *w, const void *calls, int64_t n, int32_t first, int32_t threads, int64_t overhead)
{
    const struct trace_call *row = calls;
    for (int64_t i = 0; i < n; i++, row++) {
        struct lane *lane = &w->lanes[first + (row->thread < threads ? row->thread : threads - 1)];
        uint8_t role = w->roles[row->call];
        if (row->count > 1 && !(role & WAITS_POLLS)) continue; /* a stretch of calls that were not recorded */
        if (lane->now.known) end_call(w, lane);
        lane->now = (struct judged){.enter = row->enter,
                                    .exit = row->exit,
                                    .inside = row->inside,
                                    .hidden = (row->count - 1) * overhead,
                                    .call = row->call,
                                    .peer = row->peer,
                                    .tag = row->tag,
                                    .role = role,
                                    .known = 1};
        lane->now.failed = row->count > 1 || (row->comm < 0 && row->peer < 0);
        waits_take_sent(w, lane);
    }
}

int64_t waits_ranks(struct waits *w, const struct waits_rows *rows, int64_t n)
{
    const struct trace_request *requests = rows->requests;
    const struct trace_call *calls = rows->calls;
    for (int64_t k = 0; k < n; k++) {
        int32_t first = (int32_t)rows->first_lane[k], threads = (int32_t)(rows->first_lane[k + 1] - first);
        waits_done(w, requests, rows->n_requests[k], first, threads);
        walk_calls(w, calls, rows->n_calls[k], first, threads, rows->overhead[k]);
        requests += rows->n_requests[k];
        calls += rows->n_calls[k];
    }
    return w->failed ? -1 : 0;
}

int64_t waits_finish(struct waits *w)
{
    for (struct lane *lane = w->lanes; lane < w->lanes + w->n_lanes; lane++) {
        if (lane->now.known) end_call(w, lane);
        end_probe(w, lane);
    }
    return w->failed ? -1 : 0;
}

int64_t waits_add(struct waits *w, const struct wait_candidate *candidates, int64_t n, int64_t first, int64_t stop)
{
    if (waits_sort_sent(w, candidates, n, first, stop)) return -1;
    for (int64_t i = 0; i < n; i++)
        if (candidates[i].kind != WAITS_SENT) waits_push(w, &w->lanes[candidates[i].lane], &candidates[i]);
    return w->failed ? -1 : 0;
}

int64_t waits_found(const struct waits *w)
{
    return w->n_found;
}

void waits_take(struct waits *w, struct wait_state *out)
{
    if (w->n_found) memcpy(out, w->found, (size_t)w->n_found * sizeof *out);
    w->n_found = 0;
}

struct waits *waits_new(int64_t lanes, const uint8_t *roles, int64_t most_polls)
{
    struct waits *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    *w = (struct waits){.n_lanes = lanes, .roles = roles, .most_polls = max_i64(most_polls, 2)};
    w->lanes = calloc((size_t)max_i64(lanes, 1), sizeof *w->lanes);
    if (w->lanes) return w;
    free(w);
    return NULL;
}

void waits_free(struct waits *w)
{
    if (!w) return;
    for (int64_t i = 0; i < w->n_lanes; i++) {
        free(w->lanes[i].tests.rows);
        free(w->lanes[i].probes.rows);
        free(w->lanes[i].heap);
        free(w->lanes[i].begun);
    }
    free(w->lanes);
    free(w->kept);
    free(w->free_);
    free(w->sent);
    free(w->found);
    free(w);
}
