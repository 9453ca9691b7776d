/* The stacks that a thread has walked, and their paths. A later call that finds all words as they were has that path.
 *
 * Where walking begins says which word it reads first, and each word says which one it reads next. So the words of all
 * stacks make a tree. A node holds words that follow each other in all stacks through it. Behind them the stack ends,
 * or the next word says which node follows, or the frames of Python do. Nodes that follow are found by hashing: among
 * any number of stacks that differ in one word, one look finds the right one.
 *
 * Context: the thread that owns the memory, no lock, with all signals blocked; known_find also without. */
#ifndef KNOWN_STACKS_H
#define KNOWN_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "places/internal/stack_path.h"
#include "places/internal/walk.h"
#include "places/python.h"

enum known_then { KNOWN_ENDS, KNOWN_WORD, KNOWN_PYTHON };

struct known_node {
    uint32_t words, first; /* how many, and where they begin in the arena */
    uint32_t path;         /* of the stack that ends here */
    uint16_t frames;       /* of Python, in place of words: what must be the same for the stack to end here */
    uint8_t then;
    bool elsewhere;   /* some of it is not on the thread's own stack, and may be gone */
    uint64_t next_at; /* where the word lies that says what follows */
};

/* Edge to the node that follows, by the value of its next word or a hash of Python's frames; or the first node, by the
 * place of the call and the stack pointer. */
struct known_edge {
    uint64_t from, key; /* `from` 0: a free one */
    uint32_t node;
};

struct known_stacks {
    uint64_t *arena;
    struct known_edge *edges;
    uint32_t edge_shift;        /* from a hash to the number of an edge */
    uint32_t used, room;        /* words of the arena */
    uint32_t edge_count;        /* those that are taken */
    uint32_t depth;             /* frames that are wanted of a stack */
    uint32_t stacks, in_vain;   /* stacks that are known, and that came when there was no room left */
    uint64_t own_low, own_high; /* the thread's own stack, which is there as long as the thread */
    struct python_frame now[MOST_FRAMES];
};

/* Begin to remember stacks that are walked up to `depth` frames. Returns false if there is no memory. */
bool known_begin(struct known_stacks *k, unsigned depth);

/* Free the memory. */
void known_end(struct known_stacks *k);

/* Forget all stacks. */
void known_forget(struct known_stacks *k);

/* Remember the stack that was just walked to its end. Without room it is not remembered, until it is worth forgetting
 * all others. */
void known_add(struct known_stacks *k, const struct walk *w, const struct interpreted *python, uint32_t path);

/* True if all words of a node can be read. For known_find, as are the next two. */
bool known_is_there(const struct known_stacks *k, const struct known_node *n);

/* Return the hash of the present frames of Python, which says what node follows. */
uint64_t known_python_now(struct known_stacks *k);

/* True if the present frames of Python are those of the node. */
bool known_is_same_python(const struct known_stacks *k, const struct known_node *n);

/* Return node `number`. */
static inline struct known_node *known_node_at(const struct known_stacks *k, uint32_t number)
{
    return (struct known_node *)&k->arena[number];
}

/* Return the words of a node. */
static inline const struct word *known_words(const struct known_stacks *k, const struct known_node *n)
{
    return (const struct word *)&k->arena[n->first];
}

/* Return `from` of the edges behind a node: no address of code. */
static inline uint64_t known_behind(uint32_t number)
{
    return UINT64_C(1) << 63 | number;
}

/* Return the edge, or the free one where it belongs: there are at least twice as many edges as are taken. */
static inline struct known_edge *known_edge_of(const struct known_stacks *k, uint64_t from, uint64_t key)
{
    uint64_t mask = (UINT64_C(1) << (64 - k->edge_shift)) - 1;
    uint64_t i = ((from * 3 ^ key) * UINT64_C(0x9e3779b97f4a7c15)) >> k->edge_shift;
    while (k->edges[i].from && (k->edges[i].from != from || k->edges[i].key != key)) i = (i + 1) & mask;
    return &k->edges[i];
}

/* Find the path of the stack that begins at `place` (return address) and `sp` (stack pointer). Returns false if it is
 * not known. */
static inline bool known_find(struct known_stacks *k, uint64_t place, uint64_t sp, uint32_t *path)
{
    const struct known_edge *edge = known_edge_of(k, place, sp);
    while (edge->from) {
        const struct known_node *n = known_node_at(k, edge->node);
        const struct word *word = known_words(k, n);
        if (__builtin_expect(n->elsewhere, 0) && !known_is_there(k, n)) return false;
        for (uint32_t i = 0; i < n->words; i++)
            if (*(const uint64_t *)word[i].at != word[i].value) return false;
        if (__builtin_expect(n->then == KNOWN_ENDS, 1)) {
            *path = n->path;
            return !n->frames || known_is_same_python(k, n);
        }
        uint64_t key = n->then == KNOWN_WORD ? *(const uint64_t *)n->next_at : known_python_now(k);
        edge = known_edge_of(k, known_behind(edge->node), key);
    }
    return false;
}

#endif
