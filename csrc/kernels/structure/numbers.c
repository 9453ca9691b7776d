/* Numbers keys with a hash table, so that only the different keys are sorted. */
#include "structure/numbers.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 1 << 8 };

static const uint64_t MIX = 0x9E3779B97F4A7C15, MIX_MORE = 0xD6E8FEB86659FD93;

struct known {
    uint64_t key;
    int32_t number;
};

struct numbering {
    int32_t *slots; /* the number of a key plus 1; 0: free */
    uint64_t *keys; /* by number */
    int64_t room;   /* of `slots`, a power of 2; `keys` have half of it */
    int64_t count;
};

static int64_t slot_of_key(const struct numbering *s, uint64_t key)
{
    const uint64_t last = (uint64_t)s->room - 1;
    uint64_t at = (key * MIX >> 29) & last;
    while (s->slots[at] && s->keys[s->slots[at] - 1] != key) at = (at + 1) & last;
    return (int64_t)at;
}

static int grow_numbering(struct numbering *s)
{
    const int64_t room = s->room ? 4 * s->room : FIRST_ROOM;
    uint64_t *keys = realloc(s->keys, (size_t)(room / 2) * sizeof *keys);
    if (keys) s->keys = keys;
    int32_t *slots = calloc((size_t)room, sizeof *slots);
    if (!keys || !slots) {
        free(slots);
        return -1;
    }
    free(s->slots);
    s->slots = slots;
    s->room = room;
    for (int64_t number = 0; number < s->count; number++) slots[slot_of_key(s, s->keys[number])] = (int32_t)number + 1;
    return 0;
}

struct numbering *numbering_new(void)
{
    struct numbering *s = calloc(1, sizeof *s);
    if (s && grow_numbering(s)) {
        numbering_free(s);
        return NULL;
    }
    return s;
}

void numbering_free(struct numbering *s)
{
    if (!s) return;
    free(s->slots);
    free(s->keys);
    free(s);
}

int64_t numbering_feed(struct numbering *s, const uint64_t *keys, int64_t n, int32_t *numbers)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t at = slot_of_key(s, keys[i]);
        if (!s->slots[at]) {
            if (2 * s->count == s->room) {
                if (grow_numbering(s)) return -1;
                at = slot_of_key(s, keys[i]);
            }
            s->keys[s->count] = keys[i];
            s->slots[at] = (int32_t)++s->count;
        }
        numbers[i] = s->slots[at] - 1;
    }
    return 0;
}

int64_t numbering_count(const struct numbering *s)
{
    return s->count;
}

static int by_key(const void *a, const void *b)
{
    const uint64_t one = ((const struct known *)a)->key, other = ((const struct known *)b)->key;
    return one < other ? -1 : one > other;
}

int64_t numbering_order(const struct numbering *s, int32_t *place)
{
    struct known *known = malloc((size_t)(s->count ? s->count : 1) * sizeof *known);
    if (!known) return -1;
    for (int64_t k = 0; k < s->count; k++) known[k] = (struct known){s->keys[k], (int32_t)k};
    qsort(known, (size_t)s->count, sizeof *known, by_key);
    for (int64_t k = 0; k < s->count; k++) place[known[k].number] = (int32_t)k;
    free(known);
    return 0;
}

/* Renumbers in order of keys. */
static int sort_numbers(const struct numbering *s, int32_t *numbers, int64_t n)
{
    int32_t *place = malloc((size_t)(s->count ? s->count : 1) * sizeof *place);
    if (!place || numbering_order(s, place)) {
        free(place);
        return -1;
    }
    for (int64_t i = 0; i < n; i++) numbers[i] = place[numbers[i]];
    free(place);
    return 0;
}

/* A hash of the `context` symbols up to each one: that of twice as many is of the one here and the one before these. */
static void hash_contexts(const int32_t *symbols, int64_t n, int64_t context, uint64_t *keys)
{
    for (int64_t i = 0; i < n; i++) keys[i] = (uint64_t)symbols[i] + 1;
    for (int64_t width = 1; width < context; width *= 2)
        for (int64_t i = n - 1; i >= 0; i--) {
            uint64_t before = i >= width ? keys[i - width] : 0;
            uint64_t key = (keys[i] ^ before * MIX) * MIX_MORE;
            keys[i] = key ^ key >> 32;
        }
}

int64_t numbers_in_context(const int32_t *symbols, int64_t n, int64_t context, int32_t *numbers)
{
    uint64_t *keys = malloc((size_t)(n ? n : 1) * sizeof *keys);
    struct numbering *numbering = numbering_new();
    int64_t found = -1;
    if (keys && numbering) {
        hash_contexts(symbols, n, context, keys);
        if (!numbering_feed(numbering, keys, n, numbers) && !sort_numbers(numbering, numbers, n))
            found = numbering->count;
    }
    free(keys);
    numbering_free(numbering);
    return found;
}

void places_of_numbers(const int32_t *numbers, int64_t n, int64_t kinds, int32_t *begin, int32_t *places)
{
    memset(begin, 0, (size_t)(kinds + 1) * sizeof *begin);
    for (int64_t i = 0; i < n; i++) begin[numbers[i] + 1]++;
    for (int64_t k = 0; k < kinds; k++) begin[k + 1] += begin[k];
    for (int64_t i = 0; i < n; i++) places[begin[numbers[i]]++] = (int32_t)i;
    memmove(begin + 1, begin, (size_t)kinds * sizeof *begin); /* each has moved to the begin of the next one */
    begin[0] = 0;
}
