#include "record/skipped.h"

#include <stdlib.h>

#include "mpi/procedures.h"

enum { FIRST_ROOM = 256, ROWS_A_WRITE = 128, MOST_LATEST = 512 };

static bool add_skipped(struct skipped *s, unsigned what, uint32_t comm, int32_t peer, int32_t tag, uint64_t posted)
{
    if (s->n == s->room) {
        size_t room = s->room ? 2 * s->room : FIRST_ROOM;
        struct skipped_run *runs = realloc(s->runs, room * sizeof *runs);
        if (!runs) return false;
        s->runs = runs;
        s->room = room;
    }
    s->runs[s->n++] = (struct skipped_run){posted, posted, 1, comm, peer, tag, (uint16_t)what};
    return true;
}

bool skipped_call(struct skipped *s, const struct file_call *row)
{
    unsigned role = row->call < call_count ? call_role[row->call] : 0;
    if (role & (CALL_MEETS | CALL_BEGINS_TO_MEET) && row->comm)
        return add_skipped(s, WHAT_COLLECTIVE_DONE, row->comm, 0, role & CALL_MEETS ? 0 : 1, row->enter);
    if (!(role & (CALL_SENDS | CALL_RECEIVES)) || row->peer < 0) return true;
    return add_skipped(s, role & CALL_SENDS ? WHAT_SEND_DONE : WHAT_RECV_DONE, row->comm, row->peer, row->tag,
                       row->enter);
}

/* Return the kind of a row of `requests`, without the ordinal of partitioned operations. */
static unsigned skipped_kind(const struct file_request *row)
{
    return row->what & ((1u << WHAT_ORDINAL_SHIFT) - 1);
}

bool skipped_request(struct skipped *s, const struct file_request *row)
{
    unsigned ordinal = row->what - skipped_kind(row);
    if (row->what == WHAT_COLLECTIVE_STARTED) return add_skipped(s, row->what, row->comm, 0, row->tag, row->posted);
    if (row->peer < 0) return true;
    switch (skipped_kind(row)) {
    case WHAT_RECV_FREED:
        if (row->tag < 0) return true; /* which message it has taken is not known */
        return add_skipped(s, WHAT_RECV_DONE, row->comm, row->peer, row->tag, row->posted);
    case WHAT_SEND_STARTED:
        return add_skipped(s, WHAT_SEND_DONE, row->comm, row->peer, row->tag, row->posted);
    case WHAT_SEND_CANCELLED:
        return add_skipped(s, WHAT_SEND_CANCELLED, row->comm, row->peer, row->tag, row->posted);
    case WHAT_RECV_DONE:
    case WHAT_RECEIVED:
        return add_skipped(s, WHAT_RECV_DONE, row->comm, row->peer, row->tag, row->posted);
    case WHAT_PARTITIONED_SEND_STARTED:
        return add_skipped(s, WHAT_PARTITIONED_SEND_DONE + ordinal, row->comm, row->peer, row->tag, row->posted);
    case WHAT_PARTITIONED_RECV_DONE:
        return add_skipped(s, row->what, row->comm, row->peer, row->tag, row->posted);
    default:
        return true;
    }
}

bool open_receives_add(struct open_receives *open, uint64_t posted)
{
    if (open->n == open->room) {
        size_t room = open->room ? 2 * open->room : FIRST_ROOM;
        uint64_t *larger = realloc(open->posted, room * sizeof *larger);
        if (!larger) return false;
        open->posted = larger;
        open->room = room;
    }
    open->posted[open->n++] = posted;
    return true;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_posted_time(const void *a, const void *b)
{
    return compare_numbers(*(const uint64_t *)a, *(const uint64_t *)b);
}

void open_receives_sort(struct open_receives *open)
{
    if (open->n) qsort(open->posted, open->n, sizeof *open->posted, by_posted_time);
}

/* The first that was posted at or after a time. */
static size_t first_open_at(const struct open_receives *open, uint64_t time)
{
    size_t low = 0, high = open->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (open->posted[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void open_receives_without(struct open_receives *open, const struct open_receives *done)
{
    size_t kept = 0, d = 0;
    for (size_t i = 0; i < open->n; i++) {
        while (d < done->n && done->posted[d] < open->posted[i]) d++;
        if (d < done->n && done->posted[d] == open->posted[i])
            d++;
        else
            open->posted[kept++] = open->posted[i];
    }
    open->n = kept;
}

bool open_receives_between(const struct open_receives *open, uint64_t from, uint64_t to)
{
    size_t at = first_open_at(open, from + 1);
    return at < open->n && open->posted[at] <= to;
}

static int same_run_channel(const struct skipped_run *a, const struct skipped_run *b)
{
    return a->what == b->what && a->comm == b->comm && a->peer == b->peer && a->tag == b->tag;
}

static int by_run_channel(const void *left, const void *right)
{
    const struct skipped_run *a = left, *b = right;
    int order = compare_numbers(a->what, b->what);
    if (!order) order = compare_numbers(a->comm, b->comm);
    if (!order) order = compare_numbers((uint32_t)a->peer, (uint32_t)b->peer);
    if (!order) order = compare_numbers((uint32_t)a->tag, (uint32_t)b->tag);
    return order ? order : compare_numbers(a->first, b->first);
}

bool skipped_where_posted(uint16_t what)
{
    switch (what & ((1u << WHAT_ORDINAL_SHIFT) - 1)) {
    case WHAT_SEND_DONE:
    case WHAT_PARTITIONED_SEND_DONE:
    case WHAT_COLLECTIVE_DONE:
    case WHAT_COLLECTIVE_STARTED:
        return true;
    default:
        return false;
    }
}

static bool runs_may_join(const struct skipped_run *a, const struct skipped_run *b, const struct open_receives *open,
                          uint64_t since)
{
    if (!same_run_channel(a, b) || a->what == WHAT_SEND_CANCELLED) return false;
    if (skipped_where_posted(a->what)) return true;
    if (a->first < since) return false;
    size_t at = first_open_at(open, a->last);
    return at == open->n || open->posted[at] > b->first;
}

static bool may_join_in_order(const struct skipped_run *a, const struct skipped_run *b,
                              const struct open_receives *open, uint64_t since)
{
    if (b->first >= a->last) return runs_may_join(a, b, open, since);
    if (a->first >= b->last) return runs_may_join(b, a, open, since);
    bool inside = b->first >= a->first && b->last <= a->last; /* where none of `open` was posted */
    return inside && same_run_channel(a, b) && a->what != WHAT_SEND_CANCELLED;
}

static size_t channel_hash(const struct skipped_run *r)
{
    uint64_t channel = ((uint64_t)r->comm << 32 | (uint32_t)r->peer) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(((channel ^ (uint32_t)r->tag) * UINT64_C(0x9E3779B97F4A7C15) + r->what) >> 40);
}

/* Most of what can be joined, in one pass: messages come nearly in order, on few channels. */
static void join_latest(struct skipped *s, const struct open_receives *open, uint64_t since)
{
    size_t latest[MOST_LATEST] = {0}, kept = 0; /* positions from 1, by channel as far as these do not collide */
    for (size_t i = 0; i < s->n; i++) {
        const struct skipped_run next = s->runs[i];
        size_t *slot = &latest[channel_hash(&next) % MOST_LATEST];
        struct skipped_run *run = *slot ? &s->runs[*slot - 1] : NULL;
        if (run && may_join_in_order(run, &next, open, since)) {
            if (next.first < run->first) run->first = next.first;
            if (next.last > run->last) run->last = next.last;
            run->count += next.count;
        } else {
            s->runs[kept] = next;
            *slot = ++kept;
        }
    }
    s->n = kept;
}

void skipped_join(struct skipped *s, const struct open_receives *open, uint64_t since)
{
    size_t last = 0;
    join_latest(s, open, since);
    if (s->n < 2) return;
    qsort(s->runs, s->n, sizeof *s->runs, by_run_channel);
    for (size_t i = 1; i < s->n; i++) {
        if (runs_may_join(&s->runs[last], &s->runs[i], open, since)) {
            if (s->runs[i].last > s->runs[last].last) s->runs[last].last = s->runs[i].last;
            s->runs[last].count += s->runs[i].count;
        } else {
            s->runs[++last] = s->runs[i];
        }
    }
    s->n = last + 1;
}

/* Find the receives that a buffer has posted, and those that it has completed. Returns false if one found no room. */
static bool find_receives(const struct file_call *calls, size_t n_calls, const struct file_request *requests,
                          size_t n_requests, struct open_receives *posted, struct open_receives *done)
{
    bool all = true;
    for (size_t i = 0; i < n_calls; i++)
        if (calls[i].call < call_count && call_role[calls[i].call] & CALL_POSTS)
            all &= open_receives_add(posted, calls[i].enter);
    for (size_t i = 0; i < n_requests; i++) {
        switch (skipped_kind(&requests[i])) {
        case WHAT_RECV_STARTED:
        case WHAT_PARTITIONED_RECV_STARTED:
            all &= open_receives_add(posted, requests[i].posted);
            break;
        case WHAT_RECV_DONE:
        case WHAT_RECEIVED:
        case WHAT_RECV_CANCELLED:
        case WHAT_RECV_FREED:
        case WHAT_PARTITIONED_RECV_DONE:
            all &= open_receives_add(done, requests[i].posted);
        }
    }
    return all;
}

bool skipped_rows(struct skipped *s, const struct file_call *calls, size_t n_calls, const struct file_request *requests,
                  size_t n_requests)
{
    bool all = true;
    for (size_t i = 0; i < n_calls; i++) all &= skipped_call(s, &calls[i]);
    for (size_t i = 0; i < n_requests; i++) all &= skipped_request(s, &requests[i]);
    return all;
}

bool skipped_buffer(struct skipped *s, const struct file_call *calls, size_t n_calls,
                    const struct file_request *requests, size_t n_requests, struct open_receives *left_open)
{
    struct open_receives posted = {0}, done = {0};
    bool all = find_receives(calls, n_calls, requests, n_requests, &posted, &done);
    all &= skipped_rows(s, calls, n_calls, requests, n_requests);
    open_receives_sort(&posted);
    open_receives_sort(&done);
    open_receives_without(&posted, &done);
    if (left_open) {
        open_receives_without(left_open, &done);
        for (size_t i = 0; i < posted.n; i++) all &= open_receives_add(left_open, posted.posted[i]);
        open_receives_sort(left_open);
    }
    skipped_join(s, &posted, n_calls && all ? calls[0].enter : UINT64_MAX);
    free(posted.posted);
    free(done.posted);
    return all;
}

int skipped_write(struct skipped *s, struct store *store, uint32_t thread, uint16_t mark)
{
    struct file_skipped rows[ROWS_A_WRITE];
    int error = 0;
    for (size_t done = 0; done < s->n && !error;) {
        uint32_t n = 0;
        for (; n < ROWS_A_WRITE && done < s->n; n++, done++) {
            const struct skipped_run *r = &s->runs[done];
            rows[n] = (struct file_skipped){.time = r->last,
                                            .count = r->count,
                                            .comm = r->comm,
                                            .peer = r->peer,
                                            .tag = r->tag,
                                            .what = (uint16_t)(r->what | mark),
                                            .thread = (uint16_t)thread};
        }
        error = store_append(store, TABLE_SKIPPED, rows, n);
    }
    s->n = 0;
    return error;
}
