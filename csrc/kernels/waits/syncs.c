/* The last time that two threads were in step: by a message between them, or a collective of both. That is when the
   first of the two had done its part and gone on. */
#include "waits/syncs.h"
#include <stdlib.h>

#include "common/array.h"
#include "rows/inline/min_max.h"

enum { MOST_COMMS = 32, FIRST_SLOTS = 1024 };

/* When a lane left its last collective on one communicator. */
struct seen {
    int64_t time;
    int32_t comm;
};

/* The collectives of one lane, the latest first; communicators not used for long are forgotten. */
struct lane {
    struct seen *seen;
    int32_t n, room;
};

/* When two lanes, low < high, were last in step by a message; high 0: an empty slot. */
struct pair {
    int64_t time;
    int32_t low, high;
};

struct syncs {
    int64_t lanes;
    const int64_t *starts;
    struct lane *of;
    struct pair *pairs;
    uint64_t mask, used;
};

struct syncs *syncs_new(int64_t lanes, const int64_t *starts)
{
    struct syncs *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    *s = (struct syncs){.lanes = lanes, .starts = starts, .mask = FIRST_SLOTS - 1};
    s->of = calloc(lanes ? (size_t)lanes : 1, sizeof *s->of);
    s->pairs = calloc(FIRST_SLOTS, sizeof *s->pairs);
    if (s->of && s->pairs) return s;
    syncs_free(s);
    return NULL;
}

void syncs_free(struct syncs *s)
{
    if (!s) return;
    for (int64_t i = 0; s->of && i < s->lanes; i++) free(s->of[i].seen);
    free(s->of);
    free(s->pairs);
    free(s);
}

/* The slot of a pair, or the empty one where it would go. */
static struct pair *find_pair(const struct syncs *s, int32_t low, int32_t high)
{
    uint64_t h = ((uint64_t)(uint32_t)low << 32 | (uint32_t)high) * 0x9e3779b97f4a7c15u;
    uint64_t i = (h ^ h >> 32) & s->mask;
    while (s->pairs[i].high && (s->pairs[i].low != low || s->pairs[i].high != high)) i = (i + 1) & s->mask;
    return &s->pairs[i];
}

static int grow_pairs(struct syncs *s)
{
    struct pair *old = s->pairs;
    uint64_t n = s->mask + 1;
    struct pair *bigger = calloc(2 * n, sizeof *bigger);
    if (!bigger) return -1;
    s->pairs = bigger;
    s->mask = 2 * n - 1;
    for (uint64_t i = 0; i < n; i++)
        if (old[i].high) *find_pair(s, old[i].low, old[i].high) = old[i];
    free(old);
    return 0;
}

static struct pair *pair_of(const struct syncs *s, int32_t a, int32_t b)
{
    return a < b ? find_pair(s, a, b) : find_pair(s, b, a);
}

static int add_message(struct syncs *s, const struct sync_row *row)
{
    int64_t time = min_i64(row->time, row->other_time);
    struct pair *pair = pair_of(s, row->lane, row->other);
    if (pair->high) {
        if (pair->time < time) pair->time = time;
        return 0;
    }
    if (2 * ++s->used > s->mask) {
        if (grow_pairs(s)) return -1;
        pair = pair_of(s, row->lane, row->other);
    }
    int swap = row->lane > row->other;
    *pair = (struct pair){time, swap ? row->other : row->lane, swap ? row->lane : row->other};
    return 0;
}

static int add_member(struct syncs *s, const struct sync_row *row)
{
    struct lane *lane = &s->of[row->lane];
    int32_t at = 0;
    while (at < lane->n && lane->seen[at].comm != row->comm) at++;
    if (at == lane->n && lane->n < MOST_COMMS) {
        if (lane->n == lane->room && !ARRAY_GROW(lane->seen, lane->room, 2)) return -1;
        lane->n++;
    }
    if (at == lane->n) at--;
    for (; at > 0; at--) lane->seen[at] = lane->seen[at - 1];
    lane->seen[0] = (struct seen){row->time, row->comm};
    return 0;
}

static const struct seen *last_on(const struct lane *lane, int32_t comm)
{
    for (int32_t i = 0; i < lane->n; i++)
        if (lane->seen[i].comm == comm) return &lane->seen[i];
    return NULL;
}

static void answer_sync(const struct syncs *s, struct sync_row *row)
{
    const struct pair *pair = pair_of(s, row->lane, row->other);
    int64_t last = pair->high ? pair->time : min_i64(s->starts[row->lane], s->starts[row->other]);
    const struct lane *lane = &s->of[row->lane];
    for (int32_t i = 0; i < lane->n && lane->seen[i].time > last; i++) {
        const struct seen *other = last_on(&s->of[row->other], lane->seen[i].comm);
        if (other && min_i64(lane->seen[i].time, other->time) > last) last = min_i64(lane->seen[i].time, other->time);
    }
    row->time = last;
}

int64_t syncs_feed(struct syncs *s, void *rows, int64_t n)
{
    struct sync_row *row = rows;
    for (int64_t i = 0; i < n; i++, row++) {
        if (row->what == SYNC_QUESTION)
            answer_sync(s, row);
        else if (row->what == SYNC_MEMBER ? add_member(s, row) : add_message(s, row))
            return -1;
    }
    return 0;
}
