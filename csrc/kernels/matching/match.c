/* Point-to-point matching: for each (communicator, source, destination, tag) a queue of the side that came first. */
#include "matching/match.h"
#include "records.h"
#include "rows/inline/ticks.h"
#include <stdlib.h>
#include <string.h>

static struct half call_half(const struct lane *lane, const struct file_call *row, uint64_t bytes)
{
    return (struct half){
        .posted = lane_ns(lane, row->enter),
        .completed = lane_ns(lane, row->exit),
        .bytes = (int64_t)bytes,
        .peer = lane_world(lane, row->comm, row->peer),
        .tag = row->tag,
        .comm = lane_communicator_index(lane, row->comm),
        .thread = lane->thread,
        .call = lane_procedure(lane, row->call)->index,
    };
}

static unsigned what_of(const struct file_request *row)
{
    return row->what & ((1u << WHAT_ORDINAL_SHIFT) - 1);
}

/* Partitioned operations never match ordinary ones, and find their partners by the order in which they were made. */
static int32_t channel_of(const struct file_request *row)
{
    unsigned what = what_of(row);
    int partitioned = what == WHAT_PARTITIONED_SEND_STARTED || what == WHAT_PARTITIONED_RECV_DONE;
    return partitioned ? 1 + (row->what >> WHAT_ORDINAL_SHIFT) : 0;
}

static struct half request_half(const struct lane *lane, const struct file_request *row)
{
    return (struct half){
        .posted = lane_ns(lane, row->posted),
        .completed = row->completed ? lane_ns(lane, row->completed) : 0,
        .bytes = (int64_t)row->bytes,
        .peer = lane_world(lane, row->comm, row->peer),
        .tag = row->tag,
        .comm = lane_communicator_index(lane, row->comm),
        .thread = lane->thread,
        .call = -1,
        .channel = channel_of(row),
    };
}

static int is_send(const struct lane *lane, const struct file_call *row)
{
    return row->peer >= 0 && lane_procedure(lane, row->call)->role == ROLE_SEND;
}

static int starts_send(const struct file_request *row)
{
    unsigned what = what_of(row);
    return row->peer >= 0 && (what == WHAT_SEND_STARTED || what == WHAT_PARTITIONED_SEND_STARTED);
}

int64_t match_sends(const struct lane *lane, const void *calls, int64_t n_calls, const void *requests,
                    int64_t n_requests, struct half *sends)
{
    const struct file_call *call = calls, *call_end = call + n_calls;
    const struct file_request *start = requests, *start_end = start + n_requests;
    struct half *out = sends;
    for (;;) {
        while (call < call_end && !is_send(lane, call)) call++;
        while (start < start_end && !starts_send(start)) start++;
        if (call == call_end && start == start_end) return out - sends;
        if (start == start_end || (call < call_end && call->enter <= start->posted)) {
            *out++ = call_half(lane, call, call->sent);
            call++;
        } else {
            *out++ = request_half(lane, start++);
        }
    }
}

int64_t match_receives(const struct lane *lane, const void *calls, int64_t n_calls, const void *requests,
                       int64_t n_requests, uint64_t begin, uint64_t end, struct half *receives)
{
    struct half *out = receives;
    const struct file_call *call = calls;
    for (int64_t i = 0; i < n_calls; i++)
        if (call[i].peer >= 0 && lane_procedure(lane, call[i].call)->role == ROLE_RECEIVE)
            *out++ = call_half(lane, &call[i], call[i].received);
    const struct file_request *row = requests;
    for (int64_t i = 0; i < n_requests; i++) {
        unsigned what = what_of(&row[i]);
        int done = what == WHAT_RECV_DONE || what == WHAT_RECEIVED || what == WHAT_PARTITIONED_RECV_DONE;
        if (done && row[i].peer >= 0 && row[i].posted >= begin && row[i].posted < end)
            *out++ = request_half(lane, &row[i]);
    }
    return out - receives;
}

void match_names(const struct lane *lane, const void *calls, int64_t n_calls, struct half *halves, int64_t n)
{
    const struct file_call *call = calls, *end = call + n_calls;
    for (int64_t i = 0; i < n; i++) {
        if (halves[i].call >= 0) continue;
        while (call < end && lane_ns(lane, call->enter) < halves[i].posted) call++;
        if (call == end) return;
        if (lane_ns(lane, call->enter) == halves[i].posted) halves[i].call = lane_procedure(lane, call->call)->index;
    }
}

struct key {
    int32_t comm, source, destination, tag, channel;
};

/* A waiting half, or ghost; `next` in its queue, or in the list of free ones. */
struct waiting {
    struct half half;
    int32_t window;
    int32_t number;
    int64_t next;
};

/* A slot of the hash table: the queue of one key. Empty slots have head NONE, and queues are never empty. */
struct queue {
    struct key key;
    int32_t holds_sends;
    int64_t head, tail;
};

enum { NONE = -1, FIRST_SLOTS = 1024 };

struct matcher {
    int32_t first, last;
    const int32_t *first_cpu;
    struct queue *slots;
    uint64_t mask;
    uint64_t used;
    struct waiting *pool;
    int64_t pool_size;
    int64_t free;
    int64_t waiting; /* halves; ghosts do not count */
    int64_t alone;   /* halves whose other side was a ghost */
};

static struct queue *new_slots(uint64_t n)
{
    struct queue *slots = malloc(n * sizeof *slots);
    for (uint64_t i = 0; slots && i < n; i++) slots[i].head = NONE;
    return slots;
}

struct matcher *match_new(int32_t first, int32_t last, const int32_t *first_cpu)
{
    struct matcher *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    *m = (struct matcher){.first = first, .last = last, .first_cpu = first_cpu, .mask = FIRST_SLOTS - 1, .free = NONE};
    m->slots = new_slots(FIRST_SLOTS);
    if (m->slots) return m;
    free(m);
    return NULL;
}

void match_free(struct matcher *m)
{
    if (!m) return;
    free(m->slots);
    free(m->pool);
    free(m);
}

static uint64_t hash(struct key k)
{
    uint64_t h = ((uint64_t)(uint32_t)k.source << 32 | (uint32_t)k.destination) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
    h = (h + ((uint64_t)(uint32_t)k.comm << 32 | (uint32_t)k.tag) + (uint32_t)k.channel) * 0xbf58476d1ce4e5b9u;
    return h ^ h >> 32;
}

static int same(struct key a, struct key b)
{
    return a.tag == b.tag && a.source == b.source && a.destination == b.destination && a.comm == b.comm &&
           a.channel == b.channel;
}

/* The slot of a key, or the empty one where it would go. */
static struct queue *find(const struct matcher *m, struct key key)
{
    uint64_t i = hash(key) & m->mask;
    while (m->slots[i].head != NONE && !same(m->slots[i].key, key)) i = (i + 1) & m->mask;
    return &m->slots[i];
}

static int grow_slots(struct matcher *m)
{
    struct queue *old = m->slots, *bigger = new_slots(2 * (m->mask + 1));
    if (!bigger) return -1;
    uint64_t n = m->mask + 1;
    m->slots = bigger;
    m->mask = 2 * n - 1;
    for (uint64_t i = 0; i < n; i++)
        if (old[i].head != NONE) *find(m, old[i].key) = old[i];
    free(old);
    return 0;
}

/* Empties a slot and moves up those behind it that its being full had pushed on. */
static void erase(struct matcher *m, struct queue *slot)
{
    uint64_t hole = (uint64_t)(slot - m->slots);
    for (uint64_t i = (hole + 1) & m->mask; m->slots[i].head != NONE; i = (i + 1) & m->mask) {
        uint64_t home = hash(m->slots[i].key) & m->mask;
        if (((i - home) & m->mask) >= ((i - hole) & m->mask)) {
            m->slots[hole] = m->slots[i];
            hole = i;
        }
    }
    m->slots[hole].head = NONE;
    m->used--;
}

static int grow_pool(struct matcher *m)
{
    int64_t n = m->pool_size ? 2 * m->pool_size : FIRST_SLOTS;
    struct waiting *pool = realloc(m->pool, (size_t)n * sizeof *pool);
    if (!pool) return -1;
    for (int64_t i = n; i-- > m->pool_size;) {
        pool[i].next = m->free;
        m->free = i;
    }
    m->pool = pool;
    m->pool_size = n;
    return 0;
}

static int append(struct matcher *m, struct queue *q, struct key key, int holds_sends, struct waiting entry)
{
    if (m->free == NONE && grow_pool(m)) return -1;
    int64_t i = m->free;
    m->free = m->pool[i].next;
    entry.next = NONE;
    m->pool[i] = entry;
    m->waiting += !entry.half.ghost;
    if (q->head != NONE) {
        m->pool[q->tail].next = i;
        q->tail = i;
        return 0;
    }
    *q = (struct queue){key, holds_sends, i, i};
    m->used++;
    return 2 * m->used > m->mask ? grow_slots(m) : 0;
}

static struct waiting take(struct matcher *m, struct queue *q)
{
    int64_t i = q->head;
    struct waiting entry = m->pool[i];
    m->pool[i].next = m->free;
    m->free = i;
    m->waiting -= !entry.half.ghost;
    if (entry.next == NONE)
        erase(m, q);
    else
        q->head = entry.next;
    return entry;
}

/* Lets a half or a ghost meet those of the other side that wait, else waits itself. Returns 1 where two halves have met
 * (the waiting one is in *other), 0 where none did, -1 without memory. */
static int meet(struct matcher *m, struct key key, int is_send, struct waiting *mine, struct waiting *other)
{
    for (int64_t n = mine->half.ghost ? mine->half.bytes : 1; n > 0;) {
        struct queue *q = find(m, key);
        if (q->head == NONE || q->holds_sends == is_send) {
            if (mine->half.ghost) mine->half.bytes = n;
            return append(m, q, key, is_send, *mine);
        }
        struct half *first = &m->pool[q->head].half;
        if (!first->ghost && !mine->half.ghost) {
            *other = take(m, q);
            return 1;
        }
        int64_t there = first->ghost ? first->bytes : 1, both = there < n ? there : n;
        if (first->ghost != mine->half.ghost) m->alone += both;
        n -= both;
        if (there > both)
            first->bytes -= both;
        else
            take(m, q);
    }
    return 0;
}

static struct trace_message message(const struct matcher *m, struct key key, const struct waiting *send,
                                    const struct waiting *receive)
{
    return (struct trace_message){
        .logical_send = send->half.posted,
        .physical_send = send->half.posted,
        .logical_receive = receive->half.posted,
        .physical_receive = receive->half.completed,
        .size = send->half.bytes,
        .source = key.source,
        .source_thread = send->half.thread,
        .destination = key.destination,
        .destination_thread = receive->half.thread,
        .tag = key.tag,
        .comm = key.comm,
        .source_cpu = m->first_cpu[key.source] + send->half.thread,
        .destination_cpu = m->first_cpu[key.destination] + receive->half.thread,
        .reserved = send->number,
    };
}

int64_t match_add_sends(struct matcher *m, int32_t source, const struct half *sends, int64_t n, int32_t window,
                        int32_t first_number, void *messages, int32_t *windows)
{
    struct trace_message *out = messages;
    int64_t matched = 0;
    for (int64_t k = 0; k < n; k++) {
        struct key key = {sends[k].comm, source, sends[k].peer, sends[k].tag, sends[k].channel};
        if (key.destination < m->first || key.destination >= m->last) continue;
        struct waiting send = {sends[k], window, first_number + (int32_t)k, NONE}, receive;
        int met = meet(m, key, 1, &send, &receive);
        if (met < 0) return -1;
        if (!met) continue;
        out[matched] = message(m, key, &send, &receive);
        windows[matched++] = window;
    }
    return matched;
}

int64_t match_add_receives(struct matcher *m, int32_t destination, const struct half *receives, int64_t n,
                           void *messages, int32_t *windows)
{
    struct trace_message *out = messages;
    int64_t matched = 0;
    for (int64_t k = 0; k < n; k++) {
        struct key key = {receives[k].comm, receives[k].peer, destination, receives[k].tag, receives[k].channel};
        struct waiting receive = {receives[k], 0, 0, NONE}, send;
        int met = meet(m, key, 0, &receive, &send);
        if (met < 0) return -1;
        if (!met) continue;
        out[matched] = message(m, key, &send, &receive);
        windows[matched++] = send.window;
    }
    return matched;
}

int64_t match_alone(const struct matcher *m)
{
    return m->alone;
}

int64_t match_waiting(const struct matcher *m, int64_t room, int32_t *ranks, int32_t *sends, struct half *halves)
{
    int64_t n = 0;
    for (uint64_t i = 0; room && i <= m->mask; i++) {
        const struct queue *q = &m->slots[i];
        for (int64_t at = q->head; at != NONE && n < room; at = m->pool[at].next) {
            if (m->pool[at].half.ghost) continue;
            ranks[n] = q->holds_sends ? q->key.source : q->key.destination;
            sends[n] = q->holds_sends;
            halves[n++] = m->pool[at].half;
        }
    }
    return m->waiting;
}
