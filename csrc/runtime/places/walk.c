#include "places/internal/walk.h"

#include <string.h>

#include "places/internal/frame_rule.h"
#include "places/internal/pages.h"
#include "places/internal/readable.h"

enum { CACHED_RULES = 1 << 13, PROBES = 8, WORD = 8, PAGE = 4096 };

struct cached_rule {
    uint64_t pc;
    struct frame_rule rule;
};
static struct cached_rule *cache;

/* A caller's register: its value, or where that lies. It is read only if a frame is found by it. */
struct lazy {
    bool in_memory, known;
    uint64_t value;
};

struct walking {
    struct walk *walk;
    uint64_t page; /* that is known to be readable */
    struct lazy fp;
};

static struct frame_rule rule_of(uint64_t pc)
{
    if (!cache) cache = pages_grown(NULL, 0, CACHED_RULES * sizeof *cache);
    uint64_t at = (pc * UINT64_C(0x9e3779b97f4a7c15)) >> 51;
    struct cached_rule *slot = NULL;
    for (unsigned i = 0; cache && i < PROBES; i++) {
        struct cached_rule *c = &cache[(at + i) % CACHED_RULES];
        if (c->pc == pc) return c->rule;
        if (!slot && !c->pc) slot = c;
    }
    if (cache && !slot) slot = &cache[at % CACHED_RULES];
    const struct module *m = modules_find(pc);
    struct frame_rule rule = {.cfa = CFA_NOT_KNOWN};
    if (m) rule = frame_rule(m, pc);
    if (slot) *slot = (struct cached_rule){pc, rule};
    return rule;
}

void walk_forget(void)
{
    pages_free(cache, CACHED_RULES * sizeof *cache);
    cache = NULL;
    modules_forget();
}

bool memory_is_there(uint64_t at, uint64_t *page)
{
    uint64_t new = at & ~(uint64_t)(PAGE - 1);
    if (new && new == *page) return true;
    if (!readable((const void *)new, WORD)) return false;
    *page = new;
    return true;
}

static bool read_copy(const struct stack_copy *copy, uint64_t at, uint64_t *value)
{
    if (at < copy->at || copy->bytes < WORD || at - copy->at > copy->bytes - WORD) return false;
    memcpy(value, copy->memory + (at - copy->at), WORD);
    return true;
}

static bool read_stack_word(void *walking, uint64_t at, uint64_t *value)
{
    struct walking *w = walking;
    if (at % WORD || w->walk->words == MOST_WORDS) return false;
    if (w->walk->copy) {
        if (!read_copy(w->walk->copy, at, value)) return false;
    } else if (memory_is_there(at, &w->page)) {
        *value = *(const uint64_t *)at;
    } else {
        return false;
    }
    w->walk->word[w->walk->words++] = (struct word){at, *value};
    return true;
}

static bool read_fp(struct walking *w, uint64_t *value)
{
    if (!w->fp.known) return false;
    if (w->fp.in_memory) {
        if (!read_stack_word(w, w->fp.value, &w->fp.value)) return false;
        w->fp.in_memory = false;
    }
    *value = w->fp.value;
    return true;
}

static bool find_value(struct walking *w, const struct expression *e, uint64_t sp, const uint64_t *start,
                       uint64_t *value)
{
    uint64_t fp;
    return read_fp(w, &fp) && expression_value(e, sp, fp, start, read_stack_word, w, value);
}

static bool find_cfa(struct walking *w, const struct frame_rule *rule, uint64_t sp, uint64_t *cfa)
{
    switch (rule->cfa) {
    case CFA_FROM_SP:
        *cfa = sp;
        break;
    case CFA_FROM_FP:
        if (!read_fp(w, cfa)) return false;
        break;
    case CFA_BY_EXPRESSION:
        return find_value(w, &rule->cfa_expression, sp, NULL, cfa);
    default:
        return false;
    }
    *cfa += (uint64_t)(int64_t)rule->cfa_offset;
    return true;
}

static bool find_return(struct walking *w, const struct frame_rule *rule, uint64_t sp, uint64_t cfa, uint64_t *place)
{
    uint64_t at = cfa + (uint64_t)(int64_t)rule->ra_offset;
    if (rule->ra == SAVED_BY_EXPRESSION && !find_value(w, &rule->ra_expression, sp, &cfa, &at)) return false;
    if (rule->ra != SAVED_AT && rule->ra != SAVED_BY_EXPRESSION) return false;
    return read_stack_word(w, at, place);
}

static void find_fp(struct walking *w, const struct frame_rule *rule, uint64_t sp, uint64_t cfa)
{
    uint64_t at = cfa + (uint64_t)(int64_t)rule->fp_offset;
    bool found = rule->fp == SAVED_AT;
    if (rule->fp == SAVED_NOT) return;
    if (rule->fp == SAVED_BY_EXPRESSION) found = find_value(w, &rule->fp_expression, sp, &cfa, &at);
    w->fp = (struct lazy){.in_memory = true, .known = found, .value = at};
}

/* Stacks grow downwards. Only below a signal handler's frame may lie another stack. */
static bool is_outside(const struct frame_rule *rule, uint64_t sp, uint64_t cfa)
{
    return cfa % WORD == 0 && (cfa > sp || rule->interrupted);
}

void walk_stack(struct walk *walk, unsigned most)
{
    bool fp_in_memory = walk->fp_at != 0;
    struct walking w = {.walk = walk, .fp = {fp_in_memory, true, fp_in_memory ? walk->fp_at : walk->fp}};
    uint64_t place = walk->place, sp = walk->sp, cfa, next;
    bool exact = walk->interrupted;
    walk->frames = walk->words = 0;
    for (;;) {
        walk->exact[walk->frames] = exact;
        walk->words_before[walk->frames] = walk->words;
        walk->places[walk->frames++] = place;
        walk->end = WALK_CUT;
        if (walk->frames == most || walk->frames == MOST_FRAMES) return;
        struct frame_rule rule = rule_of(exact ? place : place - 1);
        walk->end = WALK_WHOLE;
        if (rule.cfa != CFA_NOT_KNOWN && rule.ra == SAVED_NOWHERE) return;
        walk->end = WALK_LOST;
        if (!find_cfa(&w, &rule, sp, &cfa) || !is_outside(&rule, sp, cfa)) return;
        if (!find_return(&w, &rule, sp, cfa, &next)) return;
        find_fp(&w, &rule, sp, cfa);
        walk->end = WALK_WHOLE;
        if (!next) return;
        exact = rule.interrupted;
        place = next;
        sp = cfa;
    }
}
