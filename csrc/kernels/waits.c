/* What each call waited for, from its candidates: calls and candidates of a lane are walked through together by time.

   A call is judged when the next one of its lane comes, since then all that completed in it is known; a probe when the
   receive is posted that it announced. Of several candidates the one that held the call longest counts. Polls that
   failed are kept until an operation completes: for that they waited. */
#include "waits.h"
#include "records.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A call and what held it longest. */
struct judged {
    int64_t enter, exit, inside, hidden;
    int64_t others; /* what other calls took since the last failing poll */
    int32_t call, peer, tag;
    int32_t failed; /* a poll that failed, by what the trace says */
    uint8_t role;
    uint8_t known, held; /* there is a call; there is a candidate */
    struct wait_candidate by;
};

/* A run of failing polls: the time in them, what of the time between them was not the program's, and what other MPI
   calls took since the run before. */
struct poll {
    int64_t enter, exit, inside, hidden, others;
    int32_t call;
};

struct polls {
    struct poll *rows;
    int64_t n, room;
    int64_t others; /* since the last one */
};

struct key {
    int64_t complete, at;
};

struct lane {
    struct judged now, probe;
    struct polls tests, probes;
    int64_t probe_polls; /* of `probes`: those before the probe */
    struct key *heap;    /* candidates by completion, the earliest first */
    int64_t n_heap, heap_room;
    int64_t sent, sent_end;       /* of waits.sent: those of this window not met yet */
    struct wait_candidate *begun; /* sends that another call will complete, by time */
    int64_t n_begun, begun_room;
};

struct waits {
    int64_t n_lanes;
    const uint8_t *roles;
    int64_t most_polls;
    struct lane *lanes;
    struct wait_candidate *kept; /* what heaps refer to */
    int64_t n_kept, kept_room;
    int64_t *free_;
    int64_t n_free, free_room;
    struct wait_candidate *sent; /* of this window, by lane, then time */
    int64_t sent_room;
    struct wait_state *found;
    int64_t n_found, found_room;
    int failed;
};

/* Room for one more; what cannot be had is noted, and nothing is written. */
static int more(struct waits *w, void **rows, int64_t *room, int64_t n, size_t size)
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

#define MORE(w, rows, room, n) more((w), (void **)&(rows), &(room), (n), sizeof *(rows))

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- candidates in order of completion ---- */

static void push(struct waits *w, struct lane *lane, const struct wait_candidate *c)
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

static struct wait_candidate pop(struct waits *w, struct lane *lane)
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

/* ---- what was found ---- */

static void emit(struct waits *w, const struct wait_candidate *by, struct wait_state state)
{
    if (!MORE(w, w->found, w->found_room, w->n_found)) return;
    state.cause_enter = by->until;
    state.lane = by->lane;
    state.cause = by->cause;
    state.kind = by->kind;
    int64_t first = by->kind <= WAITS_LATE_RECEIVER ? by->until : by->first;
    state.first = earlier(later(first, state.enter), state.end);
    w->found[w->n_found++] = state;
}

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
    int64_t end = earlier(by->until, p->exit), lasted = end - p->enter;
    if (lasted <= 0) return 0;
    int64_t waited = earlier(share(p->inside, lasted, p->exit - p->enter), lasted);
    int64_t after = later(0, earlier(by->until, next) - p->exit);
    int64_t computed = later(0, lasted - waited - share(p->hidden, lasted, p->exit - p->enter));
    int64_t overlap = computed + later(0, earlier(after, next - p->exit - others));
    struct wait_state state = {
        .enter = end - waited, .end = end, .exit = p->exit, .call = p->call, .overlap = overlap, .polled = polled};
    emit(w, by, state);
    return 1;
}

/* The first n runs of polls, or those of them that `by` can have been waited for in, are over; by NULL: for nothing
   that is known. Returns whether there were waits. */
static int settle(struct waits *w, struct polls *list, int64_t n, const struct judged *call, int all)
{
    int64_t kept = 0, waits = 0;
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

/* ---- calls ---- */

static void hold(struct judged *call, struct wait_candidate c)
{
    if (c.kind == WAITS_LATE_SENDER && c.first > call->exit) c.kind = WAITS_WRONG_ORDER;
    int64_t end = earlier(c.until, call->exit), best = earlier(call->by.until, call->exit);
    if (call->held && (end < best || (end == best && c.kind > call->by.kind))) return;
    call->by = c;
    call->held = 1;
}

static void add_poll(struct waits *w, struct polls *list, const struct judged *call)
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

static void wait_in_call(struct waits *w, const struct judged *call, int polled)
{
    if (!call->held || call->by.until <= call->enter) return;
    struct wait_state state = {.enter = call->enter,
                               .end = earlier(call->by.until, call->exit),
                               .exit = call->exit,
                               .call = call->call,
                               .polled = polled ? 2 : 0};
    emit(w, &call->by, state);
}

/* A probe is over: its receive is posted, or will not be. */
static void end_probe(struct waits *w, struct lane *lane)
{
    if (!lane->probe.known) return;
    wait_in_call(w, &lane->probe, settle(w, &lane->probes, lane->probe_polls, &lane->probe, 1));
    lane->probe_polls = 0;
    lane->probe.known = 0;
}

/* A probe announced this message if it found one of this sender and tag. */
static void hold_probe(struct waits *w, struct lane *lane, struct wait_candidate c)
{
    c.kind = WAITS_LATE_SENDER;
    if (lane->now.role & WAITS_MATCHES) {
        hold(&lane->now, c);
    } else if (lane->probe.known && lane->probe.peer == c.peer && (lane->probe.tag < 0 || lane->probe.tag == c.tag)) {
        hold(&lane->probe, c);
        end_probe(w, lane);
    }
}

/* The lane's call is over when all that completed in it is known. */
static void end_call(struct waits *w, struct lane *lane)
{
    struct judged *call = &lane->now;
    while (lane->n_heap && lane->heap[0].complete <= call->exit) {
        struct wait_candidate c = pop(w, lane);
        if (c.complete <= call->enter) continue; /* of a call that was not recorded */
        if (c.kind >= WAITS_LATE_POST && !(call->role & WAITS_ON_WINDOW)) continue;
        if (c.kind == WAITS_PROBED)
            hold_probe(w, lane, c);
        else
            hold(call, c);
    }
    int probes = call->role & (WAITS_PROBES | WAITS_MATCHES), polls = call->role & WAITS_POLLS;
    struct polls *mine = probes ? &lane->probes : &lane->tests, *other = probes ? &lane->tests : &lane->probes;
    other->others += call->inside;
    call->others = mine->others;
    if (polls && call->failed && !call->held) {
        if (probes && mine->n >= w->most_polls) end_probe(w, lane); /* which its polls would be mixed with */
        add_poll(w, mine, call);
    } else if (call->role & WAITS_PROBES) {
        end_probe(w, lane);
        lane->probe = *call;
        lane->probe_polls = lane->probes.n;
        mine->others += call->inside;
    } else {
        int over = call->held || call->role & (WAITS_POLLS | WAITS_FINISHES);
        int polled = over && settle(w, mine, mine->n, call, probes != 0);
        wait_in_call(w, call, polled);
        mine->others += call->inside;
    }
    call->known = 0;
}

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
static void complete(struct waits *w, struct wait_candidate *c)
{
    c->kind = WAITS_LATE_RECEIVER;
    if (c->until < c->complete) push(w, &w->lanes[c->lane], c);
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
        complete(w, &c);
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

int64_t waits_done(struct waits *w, const void *requests, int64_t n, int32_t first, int32_t threads)
{
    const struct trace_request *r = requests;
    for (int64_t i = 0; i < n; i++, r++) {
        if (r->what != WHAT_SEND_DONE) continue;
        int32_t lane = first + (r->thread < threads ? r->thread : threads - 1);
        for (int32_t t = 0; t < threads; t++)
            if (complete_sent(w, &w->lanes[first + t], r, lane)) break;
    }
    return w->failed ? -1 : 0;
}

/* The messages that the lane's call sends. */
static void take_sent(struct waits *w, struct lane *lane)
{
    struct judged *call = &lane->now;
    while (lane->sent < lane->sent_end && w->sent[lane->sent].posted <= call->enter) {
        struct wait_candidate *c = &w->sent[lane->sent++];
        if (c->posted != call->enter || call->role & WAITS_BUFFERS) continue;
        if (call->role & WAITS_SENDS) {
            c->kind = WAITS_LATE_RECEIVER;
            if (c->until < call->exit) hold(call, *c);
        } else if (c->complete != c->posted) {
            complete(w, c);
        } else if (MORE(w, lane->begun, lane->begun_room, lane->n_begun)) {
            lane->begun[lane->n_begun++] = *c;
        }
    }
}

int64_t waits_calls(struct waits *w, const void *calls, int64_t n, int32_t first, int32_t threads, int64_t overhead)
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
        take_sent(w, lane);
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

/* Puts the sends of a window in order of their lanes; they come in order of time. */
static int sort_sent(struct waits *w, const struct wait_candidate *c, int64_t n)
{
    int64_t sent = 0;
    for (int64_t i = 0; i < w->n_lanes; i++) w->lanes[i].sent = w->lanes[i].sent_end = 0;
    for (int64_t i = 0; i < n; i++)
        if (c[i].kind == WAITS_SENT) w->lanes[c[i].lane].sent_end++, sent++;
    if (sent > w->sent_room) {
        struct wait_candidate *bigger = realloc(w->sent, (size_t)sent * sizeof *bigger);
        if (!bigger) return -1;
        w->sent = bigger;
        w->sent_room = sent;
    }
    int64_t at = 0;
    for (int64_t i = 0; i < w->n_lanes; i++) {
        struct lane *lane = &w->lanes[i];
        int64_t count = lane->sent_end;
        lane->sent = lane->sent_end = at;
        at += count;
    }
    for (int64_t i = 0; i < n; i++)
        if (c[i].kind == WAITS_SENT) w->sent[w->lanes[c[i].lane].sent_end++] = c[i];
    return 0;
}

int64_t waits_add(struct waits *w, const struct wait_candidate *candidates, int64_t n)
{
    if (sort_sent(w, candidates, n)) return -1;
    for (int64_t i = 0; i < n; i++)
        if (candidates[i].kind != WAITS_SENT) push(w, &w->lanes[candidates[i].lane], &candidates[i]);
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
    *w = (struct waits){.n_lanes = lanes, .roles = roles, .most_polls = later(most_polls, 2)};
    w->lanes = calloc((size_t)later(lanes, 1), sizeof *w->lanes);
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
