// Rules of frames that were damaged: reads nothing that is not there, and what a walk finds depends on what it says
// that it has read. Compiled with frame_rule.c, expression.c and pages.c under sanitizers, and with walk.c without
// them: of a damaged rule, a walk may read any memory that is there.
//
// `damaged_frames SEED ROUNDS`: damages copies of the .eh_frame of the program's libraries.

#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "places/internal/frame_rule.h"
#include "places/internal/walk.h"

enum { MOST_KEPT = 8, STACK_WORDS = 1 << 12, LEAST_BYTES = 64, INDEX_HEAD = 12, INDEX_ENTRY = 8 };

// The segment of a library with its .eh_frame, and a copy of it as large as needed.
struct kept {
    uint8_t *whole, *damaged;
    size_t bytes, index;
    struct module module, copy;
};
static struct kept kept[MOST_KEPT];
static int kept_count;
static const struct module *current;
static uint64_t stack[STACK_WORDS], state;

static uint64_t draw(uint64_t n)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 20) % n;
}

const struct module *modules_find(uint64_t address)
{
    return draw(64) && address ? current : NULL;
}

void modules_forget(void) {}

struct span modules_readable(const struct module *m, const uint8_t *at)
{
    const struct span *all = &m->segments[0];
    return at >= all->begin && at < all->end ? (struct span){at, all->end} : (struct span){NULL, NULL};
}

static struct module module_at(const uint8_t *begin, size_t bytes, size_t index)
{
    return (struct module){.segments = {{begin, begin + bytes}}, .segment_count = 1, .index = begin + index};
}

static int keep(struct dl_phdr_info *info, size_t bytes, void *unused)
{
    const ElfW(Phdr) *index = NULL;
    (void)bytes, (void)unused;
    if (!*info->dlpi_name) return 0; // the program itself, in which sanitizers guard gaps
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) index = &info->dlpi_phdr[i];
    for (int i = 0; index && i < info->dlpi_phnum && kept_count < MOST_KEPT; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || index->p_vaddr < p->p_vaddr || index->p_vaddr >= p->p_vaddr + p->p_memsz) continue;
        const uint8_t *begin = (const uint8_t *)(info->dlpi_addr + p->p_vaddr);
        struct kept k = {.bytes = p->p_memsz, .index = index->p_vaddr - p->p_vaddr};
        k.whole = malloc(k.bytes);
        k.damaged = malloc(k.bytes);
        memcpy(k.whole, begin, k.bytes);
        memcpy(k.damaged, begin, k.bytes);
        k.module = module_at(begin, k.bytes, k.index);
        k.copy = module_at(k.damaged, k.bytes, k.index);
        kept[kept_count++] = k;
    }
    return 0;
}

static uint32_t functions_of(const struct kept *k)
{
    uint32_t n;
    memcpy(&n, k->whole + k->index + INDEX_HEAD - sizeof n, sizeof n);
    return n;
}

// A place in a function of the library, as the copy has it; `entry`: where the copy describes the function.
static uint64_t place_of(const struct kept *k, size_t *entry)
{
    int32_t pair[2];
    memcpy(pair, k->whole + k->index + INDEX_HEAD + draw(functions_of(k)) * INDEX_ENTRY, sizeof pair);
    *entry = k->index + (size_t)(int64_t)pair[1];
    return (uint64_t)k->damaged + k->index + (uint64_t)(int64_t)pair[0] + draw(draw(2) ? 16 : 300);
}

static void damage(struct kept *k, size_t entry)
{
    uint32_t back = 0;
    memcpy(&back, k->whole + entry + 4, sizeof back);
    const size_t common = entry + 4 - back, where[] = {k->index, entry, common, k->index + INDEX_HEAD};
    for (uint64_t n = draw(4) + 1; n-- > 0;) {
        size_t at = draw(8) ? where[draw(4)] + draw(LEAST_BYTES) : draw(k->bytes);
        if (at < k->bytes) k->damaged[at] = draw(2) ? (uint8_t)draw(256) : k->damaged[at] ^ (uint8_t)(1 << draw(8));
    }
}

static void fill_stack(const struct kept *k)
{
    size_t entry;
    for (int i = 0; i < STACK_WORDS; i++) {
        uint64_t what = draw(4);
        if (what == 0) stack[i] = place_of(k, &entry);
        if (what == 1) stack[i] = (uint64_t)&stack[draw(STACK_WORDS)];
        if (what == 2) stack[i] = draw(1000);
        if (what == 3) stack[i] = draw(UINT64_MAX);
    }
}

static int all_on_stack(const struct walk *w)
{
    for (unsigned i = 0; i < w->words; i++)
        if (w->word[i].at < (uint64_t)stack || w->word[i].at >= (uint64_t)(stack + STACK_WORDS)) return 0;
    return 1;
}

// Everything else on the stack is other than it was.
static void change_what_was_not_read(const struct walk *w)
{
    static char was_read[STACK_WORDS];
    memset(was_read, 0, sizeof was_read);
    for (unsigned i = 0; i < w->words; i++) was_read[(w->word[i].at - (uint64_t)stack) / sizeof *stack] = 1;
    for (int i = 0; i < STACK_WORDS; i++)
        if (!was_read[i]) stack[i] = draw(UINT64_MAX);
}

static void fail(const char *what, uint64_t round)
{
    printf("round %lu: %s\n", (unsigned long)round, what);
    exit(1);
}

static struct walk walked(uint64_t place, uint64_t sp, uint64_t fp_at, unsigned most, uint64_t draws)
{
    static struct walk w;
    state = draws; // modules that are found are the same
    w.place = place;
    w.sp = sp;
    w.fp_at = fp_at;
    walk_forget();
    walk_stack(&w, most);
    return w;
}

static int walk_twice(uint64_t place, uint64_t round)
{
    static struct walk first, second;
    const uint64_t sp = (uint64_t)&stack[draw(STACK_WORDS / 2)];
    uint64_t *const fp_at = &stack[draw(STACK_WORDS)];
    *fp_at = draw(2) ? (uint64_t)&stack[draw(STACK_WORDS)] : draw(UINT64_MAX);
    const unsigned most = (unsigned)draw(MOST_FRAMES) + 1;
    const uint64_t draws = state;
    first = walked(place, sp, (uint64_t)fp_at, most, draws);
    if (!first.frames || first.frames > most || first.words > MOST_WORDS) fail("more than asked for", round);
    if (!all_on_stack(&first)) return 0;
    change_what_was_not_read(&first);
    second = walked(place, sp, (uint64_t)fp_at, most, draws);
    if (first.frames != second.frames || first.end != second.end || first.words != second.words ||
        memcmp(first.places, second.places, first.frames * sizeof *first.places) != 0)
        fail("the walk depends on what it has not read", round);
    return first.frames > 2;
}

static void compare_whole(const struct kept *k)
{
    size_t entry;
    for (int i = 0; i < 2000; i++) {
        uint64_t place = place_of(k, &entry);
        struct frame_rule a = frame_rule(&k->copy, place);
        struct frame_rule b =
            frame_rule(&k->module, place - (uint64_t)k->damaged + (uint64_t)k->module.segments[0].begin);
        if (a.cfa != b.cfa || a.cfa_offset != b.cfa_offset || a.ra != b.ra || a.fp != b.fp)
            fail("a copy is another", 0);
    }
}

int main(int argc, char **argv)
{
    uint64_t rounds = strtoul(argv[argc - 1], NULL, 10), far = 0, known = 0;
    state = strtoul(argv[1], NULL, 10);
    dl_iterate_phdr(keep, NULL);
    for (int i = 0; i < kept_count; i++) compare_whole(&kept[i]);
    for (uint64_t round = 1; round <= rounds; round++) {
        struct kept *k = &kept[draw((uint64_t)kept_count)];
        size_t entry;
        uint64_t place = place_of(k, &entry);
        current = &k->copy;
        damage(k, entry);
        known += frame_rule(&k->copy, place).cfa != CFA_NOT_KNOWN;
        fill_stack(k);
        far += (uint64_t)walk_twice(place, round);
        if (draw(8) == 0) memcpy(k->damaged, k->whole, k->bytes);
    }
    printf("%d libraries, %lu rounds, %lu with a rule, %lu walks further than two frames\n", kept_count,
           (unsigned long)rounds, (unsigned long)known, (unsigned long)far);
    return 0;
}
