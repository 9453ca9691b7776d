// Random stacks, against a list of all that were walked: `known_stacks SEED ROUNDS [comes-and-goes]`. A stack here
// is memory in which a made-up walk reads words: each word says where the next one lies. Stubs stand in for Python and
// for what can be read. Where Python comes and goes, a stack without it may stand for one with it (the runtime forgets
// all when Python comes); what was just added must be right even then.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "places/internal/known_stacks.h"

enum { WORDS = 1 << 10, PLACES = 3, SPS = 3, MOST_LENGTH = 24, VALUES = 3, FRAMES = 4 };

static uint64_t stack[WORDS], state;
static struct python_frame now[FRAMES];
static unsigned frames;

static uint64_t draw(uint64_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % below;
}

bool memory_is_there(uint64_t at, uint64_t *page)
{
    (void)page;
    return at >= (uint64_t)stack && at < (uint64_t)(stack + WORDS);
}

unsigned python_frames(struct python_frame *found, unsigned room)
{
    unsigned n = frames < room ? frames : room;
    memcpy(found, now, n * sizeof *now);
    return n;
}

uint64_t python_code_mark(const struct python_frame *frame)
{
    return (uint64_t)frame->code * 7;
}

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 31;
}

// Each word read depends on all words read before. At a place that runs Python, its frames end the walk.
static void walk(struct walk *w, struct interpreted *python, uint64_t place, uint64_t sp)
{
    uint64_t h = mix(place, sp);
    unsigned length = (unsigned)(h % MOST_LENGTH);
    w->place = place;
    w->sp = sp;
    w->fp_at = sp;
    w->words = 0;
    python->n = 0;
    while (w->words < length + (h >> 40) % 4 && w->words < MOST_LENGTH) {
        uint64_t at = (uint64_t)&stack[h % WORDS];
        w->word[w->words++] = (struct word){at, *(uint64_t *)at};
        h = mix(h, *(uint64_t *)at);
        if (place == 1 && h % 5 == 0 && frames) break;
    }
    if (place != 1 || !frames) return;
    python->n = python_frames(python->frame, FRAMES);
    for (unsigned i = 0; i < python->n; i++) python->mark[i] = python_code_mark(&python->frame[i]);
}

static uint32_t name_of(const struct walk *w, const struct interpreted *python)
{
    uint64_t h = mix(w->place, w->sp);
    for (unsigned i = 0; i < w->words; i++) h = mix(mix(h, w->word[i].at), w->word[i].value);
    for (unsigned i = 0; i < python->n; i++)
        h = mix(mix(h, (uint64_t)python->frame[i].code), (uint64_t)python->frame[i].instruction);
    return (uint32_t)(h >> 32) | 1;
}

static void fail(const char *what, uint64_t round)
{
    printf("round %lu: %s\n", (unsigned long)round, what);
    exit(1);
}

int main(int argc, char **argv)
{
    static struct known_stacks known;
    static struct walk w;
    static struct interpreted python;
    uint64_t rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, again = 0;
    const bool comes_and_goes = argc > 3;
    if (argc < 3 || !known_begin(&known, FRAMES)) return 2;
    state = strtoull(argv[1], NULL, 10);
    for (uint64_t round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < 1 + draw(8); i++) stack[draw(WORDS)] = draw(VALUES);
        frames = comes_and_goes ? (unsigned)draw(FRAMES + 1) : 1 + (unsigned)draw(FRAMES);
        for (unsigned i = 0; i < frames; i++)
            now[i] = (struct python_frame){(void *)(1 + draw(2)), (void *)(2 * draw(2))};
        uint64_t place = 1 + draw(PLACES), sp = (uint64_t)&stack[draw(SPS)];
        uint32_t path = 0;
        walk(&w, &python, place, sp);
        bool found = known_find(&known, place, sp, &path);
        if (found && path != name_of(&w, &python)) {
            if (!comes_and_goes) fail("a stack was taken for another one", round);
            found = false;
        }
        again += found;
        if (!found) known_add(&known, &w, &python, name_of(&w, &python));
        if (!known_find(&known, place, sp, &path) || path != name_of(&w, &python)) fail("it is not known now", round);
        if (draw(20000) == 0) known_forget(&known);
    }
    printf("%lu known, %u words, %u edges\n", (unsigned long)again, known.used, known.edge_count);
    known_end(&known);
    return 0;
}
