/* Point-to-point matching: for each (communicator, source, destination, tag) a queue of the side that came first. */
#include "matching/match.h"

#include <stdlib.h>
#include <string.h>

#include "matching/internal/matcher.h"

enum { NONE = -1, FIRST_SLOTS = 1024 };

static struct queue *new_slots(uint64_t n)
{
    struct queue *slots = malloc(n * sizeof *slots);
    for (uint64_t i = 0; slots && i < n; i++) slots[i].head = NONE;
    return slots;
}

struct matcher *match_new(int32_t first, int32_t last, int32_t ranks, const int32_t *first_cpu, const uint8_t *present)
{
    struct matcher *m = malloc(sizeof *m);
    if (!m) return NULL;
    *m = (struct matcher){.first = first,
                          .last = last,
                          .ranks = ranks,
                          .first_cpu = first_cpu,
                          .present = present,
                          .mask = FIRST_SLOTS - 1,
                          .free = NONE};
    m->slots = new_slots(FIRST_SLOTS);
    m->sent = calloc((size_t)ranks, sizeof *m->sent);
    if (m->slots && m->sent) return m;
    match_free(m);
    return NULL;
}

void match_free(struct matcher *m)
{
    if (!m) return;
    free(m->slots);
    free(m->sent);
    free(m->pool);
    free(m->messages);
    free(m->halves);
    free(m->going);
    free(m->late);
    free(m);
}

static uint64_t hash_key(struct key k)
{
    uint64_t h = ((uint64_t)(uint32_t)k.source << 32 | (uint32_t)k.destination) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
    h = (h + ((uint64_t)(uint32_t)k.comm << 32 | (uint32_t)k.tag) + (uint32_t)k.channel) * 0xbf58476d1ce4e5b9u;
    return h ^ h >> 32;
}

static int same_key(struct key a, struct key b)
{
    return a.tag == b.tag && a.source == b.source && a.destination == b.destination && a.comm == b.comm &&
           a.channel == b.channel;
}

/* Return the slot of a key, or the empty slot where it would go. */
static struct queue *find_queue(const struct matcher *m, struct key key)
{
    uint64_t i = hash_key(key) & m->mask;
    while (m->slots[i].head != NONE && !same_key(m->slots[i].key, key)) i = (i + 1) & m->mask;
    return &m->slots[i];
}

static int grow_queue_slots(struct matcher *m)
{
    struct queue *old = m->slots, *bigger = new_slots(2 * (m->mask + 1));
    if (!bigger) return -1;
    uint64_t n = m->mask + 1;
    m->slots = bigger;
    m->mask = 2 * n - 1;
    for (uint64_t i = 0; i < n; i++)
        if (old[i].head != NONE) *find_queue(m, old[i].key) = old[i];
    free(old);
    return 0;
}

/* Empty a slot, and move up the slots behind it that it had pushed away from their places. */
static void erase_queue(struct matcher *m, struct queue *slot)
{
    uint64_t hole = (uint64_t)(slot - m->slots);
    for (uint64_t i = (hole + 1) & m->mask; m->slots[i].head != NONE; i = (i + 1) & m->mask) {
        uint64_t home = hash_key(m->slots[i].key) & m->mask;
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

static int append_waiting(struct matcher *m, struct queue *q, struct key key, int holds_sends, struct waiting entry)
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
    return 2 * m->used > m->mask ? grow_queue_slots(m) : 0;
}

static struct waiting take_waiting(struct matcher *m, struct queue *q)
{
    int64_t i = q->head;
    struct waiting entry = m->pool[i];
    m->pool[i].next = m->free;
    m->free = i;
    m->waiting -= !entry.half.ghost;
    if (entry.next == NONE)
        erase_queue(m, q);
    else
        q->head = entry.next;
    return entry;
}

/* Lets a half or a ghost meet those of the other side that wait, else waits itself. Returns 1 where two halves have met
 * (the waiting one is in *other), 0 where none did, -1 without memory. */
static int meet_waiting(struct matcher *m, struct key key, int is_send, struct waiting *mine, struct waiting *other)
{
    for (int64_t n = mine->half.ghost ? mine->half.bytes : 1; n > 0;) {
        struct queue *q = find_queue(m, key);
        if (q->head == NONE || q->holds_sends == is_send) {
            if (mine->half.ghost) mine->half.bytes = n;
            return append_waiting(m, q, key, is_send, *mine);
        }
        struct half *first = &m->pool[q->head].half;
        if (!first->ghost && !mine->half.ghost) {
            *other = take_waiting(m, q);
            return 1;
        }
        int64_t there = first->ghost ? first->bytes : 1, both = there < n ? there : n;
        if (first->ghost != mine->half.ghost) m->alone += both;
        n -= both;
        if (there > both)
            first->bytes -= both;
        else
            take_waiting(m, q);
    }
    return 0;
}

/* Return when a message was received. The completion of a receive that was freed is not known: take the earliest
   possible time. */
static int64_t received_at(const struct half *send, const struct half *receive)
{
    if (receive->completed) return receive->completed;
    return send->posted > receive->posted ? send->posted : receive->posted;
}

/* Add a complete message; -1: no memory. */
static int put_waiting(struct matcher *m, struct key key, const struct waiting *send, const struct waiting *receive)
{
    if (m->found == m->room) {
        int64_t room = m->room ? 2 * m->room : FIRST_SLOTS;
        struct trace_message *messages = realloc(m->messages, (size_t)room * sizeof *messages);
        if (!messages) return -1;
        m->messages = messages;
        m->room = room;
    }
    m->messages[m->found++] = (struct trace_message){
        .logical_send = send->half.posted,
        .physical_send = send->half.posted,
        .logical_receive = receive->half.posted,
        .physical_receive = received_at(&send->half, &receive->half),
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
    return 0;
}

static int add_send(struct matcher *m, const struct half *half, int32_t source, int32_t number)
{
    struct key key = {half->comm, source, half->peer, half->tag, half->channel};
    struct waiting send = {*half, number, NONE}, receive;
    int met = meet_waiting(m, key, 1, &send, &receive);
    return met < 0 || (met && put_waiting(m, key, &send, &receive)) ? -1 : 0;
}

static int put_out(struct matcher *m, const struct half *half, int32_t source, int32_t number)
{
    if (m->n_going == m->going_room) {
        int64_t room = m->going_room ? 2 * m->going_room : FIRST_SLOTS;
        struct outgoing *going = realloc(m->going, (size_t)room * sizeof *going);
        if (!going) return -1;
        m->going = going;
        m->going_room = room;
    }
    m->going[m->n_going++] = (struct outgoing){*half, source, number};
    return 0;
}

int match_add_sends(struct matcher *m, int32_t source, const struct half *sends, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        int32_t number = m->sent[source]++, to = sends[k].peer;
        int mine = to >= m->first && to < m->last;
        if (mine ? add_send(m, &sends[k], source, number) : put_out(m, &sends[k], source, number)) return -1;
    }
    return 0;
}

int64_t match_going(const struct matcher *m)
{
    return m->n_going;
}

void match_take_going(struct matcher *m, struct outgoing *sends)
{
    if (m->n_going) memcpy(sends, m->going, (size_t)m->n_going * sizeof *m->going);
    m->n_going = 0;
}

int match_add_coming(struct matcher *m, const struct outgoing *sends, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        if (add_send(m, &sends[k].half, sends[k].source, sends[k].number)) return -1;
    return 0;
}

int match_add_receives(struct matcher *m, int32_t destination, const struct half *receives, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        struct key key = {receives[k].comm, receives[k].peer, destination, receives[k].tag, receives[k].channel};
        struct waiting receive = {receives[k], 0, NONE}, send;
        int met = meet_waiting(m, key, 0, &receive, &send);
        if (met < 0 || (met && put_waiting(m, key, &send, &receive))) return -1;
    }
    return 0;
}

int64_t match_found(const struct matcher *m)
{
    return m->found;
}

void match_take(struct matcher *m, void *messages)
{
    if (m->found) memcpy(messages, m->messages, (size_t)m->found * sizeof *m->messages);
    m->found = 0;
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
