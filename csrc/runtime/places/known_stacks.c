#define _GNU_SOURCE
#include "places/internal/known_stacks.h"

#include <pthread.h>
#include <string.h>

#include "places/internal/pages.h"

enum { FIRST_ROOM = 1 << 17, FIRST_EDGES = 1 << 12, WORD = sizeof(uint64_t), MOST_NEW_NODES = 3, MOST_NEW_EDGES = 3 };

/* Most bytes that all threads of the process may take beyond the memory that each begins with. */
#define MOST_HELD (UINT64_C(64) << 20)
static uint64_t held;

/* A frame of Python, and that its code object is the one that it was. */
struct python_place {
    struct python_frame frame;
    uint64_t mark;
};

/* A stack that is to be known. */
struct found {
    const struct walk *walk;
    const struct interpreted *python;
    uint32_t path;
    bool elsewhere;
};

static uint64_t edge_room(const struct known_stacks *k)
{
    return UINT64_C(1) << (64 - k->edge_shift);
}

static uint64_t edge_bytes(const struct known_stacks *k)
{
    return edge_room(k) * sizeof *k->edges;
}

static uint64_t arena_bytes(const struct known_stacks *k)
{
    return (uint64_t)k->room * WORD;
}

static void find_own_stack(struct known_stacks *k)
{
    pthread_attr_t attributes;
    void *low;
    size_t bytes;
    if (pthread_getattr_np(pthread_self(), &attributes)) return;
    if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
        k->own_low = (uint64_t)low;
        k->own_high = k->own_low + bytes;
    }
    pthread_attr_destroy(&attributes);
}

bool known_begin(struct known_stacks *k, unsigned depth)
{
    k->depth = depth;
    k->room = FIRST_ROOM;
    k->edge_shift = 64 - (uint32_t)__builtin_ctz(FIRST_EDGES);
    k->arena = pages_grown(NULL, 0, arena_bytes(k));
    k->edges = pages_grown(NULL, 0, edge_bytes(k));
    k->used = 1;
    if (k->arena && k->edges) return find_own_stack(k), true;
    pages_free(k->arena, arena_bytes(k));
    pages_free(k->edges, edge_bytes(k));
    return false;
}

void known_end(struct known_stacks *k)
{
    uint64_t first = (uint64_t)FIRST_ROOM * WORD + FIRST_EDGES * sizeof *k->edges;
    __atomic_fetch_sub(&held, arena_bytes(k) + edge_bytes(k) - first, __ATOMIC_RELAXED);
    pages_free(k->arena, arena_bytes(k));
    pages_free(k->edges, edge_bytes(k));
}

void known_forget(struct known_stacks *k)
{
    if (k->edge_count) memset(k->edges, 0, edge_bytes(k));
    k->edge_count = k->stacks = k->in_vain = 0;
    k->used = 1;
}

static bool may_hold(uint64_t more)
{
    if (__atomic_add_fetch(&held, more, __ATOMIC_RELAXED) <= MOST_HELD) return true;
    __atomic_fetch_sub(&held, more, __ATOMIC_RELAXED);
    return false;
}

static bool grow_arena(struct known_stacks *k)
{
    uint64_t bytes = arena_bytes(k);
    if (!may_hold(bytes)) return false;
    uint64_t *larger = pages_grown(k->arena, bytes, 2 * bytes);
    if (!larger) return __atomic_fetch_sub(&held, bytes, __ATOMIC_RELAXED), false;
    k->arena = larger;
    k->room *= 2;
    return true;
}

static bool grow_edges(struct known_stacks *k)
{
    uint64_t n = edge_room(k), bytes = edge_bytes(k);
    struct known_edge *old = k->edges;
    if (!may_hold(bytes)) return false;
    struct known_edge *larger = pages_grown(NULL, 0, 2 * bytes);
    if (!larger) return __atomic_fetch_sub(&held, bytes, __ATOMIC_RELAXED), false;
    k->edges = larger;
    k->edge_shift--;
    for (uint64_t i = 0; i < n; i++)
        if (old[i].from) *known_edge_of(k, old[i].from, old[i].key) = old[i];
    pages_free(old, bytes);
    return true;
}

static bool has_room_for(struct known_stacks *k, uint64_t bytes)
{
    while (k->used + bytes / WORD > k->room)
        if (!grow_arena(k)) return false;
    while (k->edge_count + MOST_NEW_EDGES > edge_room(k) / 2)
        if (!grow_edges(k)) return false;
    return true;
}

/* Among stacks that take turns and do not all fit in, it is better to know some than to replace them all the time. But
 * once as many have come in vain as are known, the program does something else. */
static bool make_room_for_stack(struct known_stacks *k, const struct found *s)
{
    uint64_t bytes = MOST_NEW_NODES * sizeof(struct known_node) + s->walk->words * sizeof(struct word) +
                     s->python->n * sizeof(struct python_place);
    if (has_room_for(k, bytes)) return true;
    if (k->in_vain++ < k->stacks) return false;
    known_forget(k);
    return has_room_for(k, bytes);
}

static bool is_elsewhere(const struct known_stacks *k, const struct walk *w)
{
    if (w->sp < k->own_low || w->sp > k->own_high) return true;
    for (unsigned i = 0; i < w->words; i++)
        if (w->word[i].at < w->fp_at || w->word[i].at >= k->own_high) return true;
    return false;
}

bool known_is_there(const struct known_stacks *k, const struct known_node *n)
{
    const struct word *word = known_words(k, n);
    uint64_t page = 0;
    bool there = true;
    for (uint32_t i = 0; i < n->words && there; i++) there = memory_is_there(word[i].at, &page);
    return there && (n->then != KNOWN_WORD || memory_is_there(n->next_at, &page));
}

/* 0 of no frames alone: what follows without Python is never taken for a stack of Python. */
static uint64_t hash_python_frames(const struct python_frame *frames, unsigned n)
{
    uint64_t h = n;
    for (unsigned i = 0; i < n; i++) {
        h = (h ^ (uint64_t)frames[i].code) * UINT64_C(0x9e3779b97f4a7c15);
        h = (h ^ h >> 29 ^ (uint64_t)frames[i].instruction) * UINT64_C(0xa0761d6478bd642f);
    }
    return n ? h | 1 : 0;
}

/* Python runs its functions without new frames on the stack: the same stack may stand for other code. */
uint64_t known_python_now(struct known_stacks *k)
{
    return hash_python_frames(k->now, python_frames(k->now, k->depth));
}

/* Its frames are those that known_python_now has just found, if they have the hash. */
bool known_is_same_python(const struct known_stacks *k, const struct known_node *n)
{
    const struct python_place *was = (const struct python_place *)&k->arena[n->first];
    for (unsigned i = 0; i < n->frames; i++)
        if (k->now[i].code != was[i].frame.code || k->now[i].instruction != was[i].frame.instruction) return false;
    for (unsigned i = 0; i < n->frames; i++)
        if (python_code_mark(&k->now[i]) != was[i].mark) return false;
    return true;
}

static void set_edge(struct known_stacks *k, uint64_t from, uint64_t key, uint32_t node)
{
    struct known_edge *edge = known_edge_of(k, from, key);
    k->edge_count += edge->from == 0;
    *edge = (struct known_edge){from, key, node};
}

static uint32_t allot(struct known_stacks *k, uint64_t bytes)
{
    uint32_t number = k->used;
    k->used += (uint32_t)(bytes / WORD);
    return number;
}

static uint32_t add_known_node(struct known_stacks *k, struct known_node node)
{
    uint32_t number = allot(k, sizeof node);
    *known_node_at(k, number) = node;
    return number;
}

/* The end of a stack of Python. */
static uint32_t add_python(struct known_stacks *k, const struct found *s)
{
    const struct interpreted *python = s->python;
    uint32_t first = allot(k, python->n * sizeof(struct python_place));
    struct python_place *place = (struct python_place *)&k->arena[first];
    for (unsigned i = 0; i < python->n; i++) place[i] = (struct python_place){python->frame[i], python->mark[i]};
    return add_known_node(k, (struct known_node){.first = first, .frames = (uint16_t)python->n, .path = s->path});
}

/* All that comes from word number `i` of the stack on. */
static uint32_t add_rest(struct known_stacks *k, const struct found *s, uint32_t i)
{
    uint32_t words = s->walk->words - i;
    uint32_t number = add_known_node(k, (struct known_node){.words = words,
                                                            .first = k->used + sizeof(struct known_node) / WORD,
                                                            .path = s->path,
                                                            .then = s->python->n ? KNOWN_PYTHON : KNOWN_ENDS,
                                                            .elsewhere = s->elsewhere});
    uint32_t first = allot(k, words * sizeof(struct word));
    memcpy(&k->arena[first], &s->walk->word[i], words * sizeof(struct word));
    if (s->python->n)
        set_edge(k, known_behind(number), hash_python_frames(s->python->frame, s->python->n), add_python(k, s));
    return number;
}

static uint32_t common_words(const struct known_stacks *k, const struct known_node *n, const struct walk *w, uint32_t i)
{
    const struct word *word = known_words(k, n);
    uint32_t same = 0;
    while (same < n->words && i + same < w->words && word[same].at == w->word[i + same].at &&
           word[same].value == w->word[i + same].value)
        same++;
    return same;
}

/* The stack agrees with the first `same` words of the node that this edge leads to: these become a node of their own,
 * before it. False: what comes next is not read at the same place, though all before is the same. */
static bool divide_node(struct known_stacks *k, uint64_t from, uint64_t key, uint32_t same, const struct found *s,
                        uint32_t at)
{
    uint32_t number = known_edge_of(k, from, key)->node;
    struct known_node *n = known_node_at(k, number);
    const struct walk *w = s->walk;
    const struct word next = known_words(k, n)[same];
    bool by_word = at < w->words && w->word[at].at == next.at;
    if (!by_word && (at < w->words || !s->python->n)) return false;
    uint32_t before = add_known_node(k, (struct known_node){.words = same,
                                                            .first = n->first,
                                                            .then = by_word ? KNOWN_WORD : KNOWN_PYTHON,
                                                            .elsewhere = n->elsewhere,
                                                            .next_at = by_word ? next.at : 0});
    uint32_t taken = same + by_word;
    n->first += taken * (uint32_t)(sizeof(struct word) / WORD);
    n->words -= taken;
    set_edge(k, known_behind(before), by_word ? next.value : hash_python_frames(NULL, 0), number);
    set_edge(k, from, key, before);
    return true;
}

/* Where a walk went on in another way than before from all the same words (what it read then was not there, or Python
 * had not begun), the new way counts. */
void known_add(struct known_stacks *k, const struct walk *w, const struct interpreted *python, uint32_t path)
{
    const struct found s = {w, python, path, is_elsewhere(k, w)};
    uint64_t from = w->place, key = w->sp;
    uint32_t i = 0;
    bool by_python = false;
    if (!make_room_for_stack(k, &s)) return;
    for (const struct known_edge *edge; (edge = known_edge_of(k, from, key))->from;) {
        const struct known_node *n = known_node_at(k, edge->node);
        uint32_t number = edge->node, same = common_words(k, n, w, i), at = i + same;
        if (same < n->words) {
            if (!divide_node(k, from, key, same, &s, at)) break;
        } else if (n->then == KNOWN_WORD && at < w->words && w->word[at].at == n->next_at) {
            from = known_behind(number), key = w->word[at].value, i = at + 1;
        } else if (n->then == KNOWN_PYTHON && (at == w->words || !python->n)) {
            from = known_behind(number), key = hash_python_frames(python->frame, python->n), i = at;
            by_python = python->n > 0;
        } else {
            break;
        }
    }
    set_edge(k, from, key, by_python ? add_python(k, &s) : add_rest(k, &s, i));
    k->stacks++;
}
