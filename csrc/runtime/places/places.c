#define _GNU_SOURCE
#include "places/places.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/settings.h"
#include "places/internal/modules.h"
#include "places/internal/path_rows.h"
#include "places/internal/walk.h"
#include "record/rank_file.h"

enum { BUCKETS = 1 << 12, ARENA_BYTES = 1 << 20, ALIGNED = 8, MOST_IN_BUCKET = 8, DEFAULT_DEPTH = MOST_FRAMES };

/* A stack that was walked, and what was read then. */
struct remembered {
    uint64_t place, sp, fp;
    uint32_t path;
    uint32_t next; /* of the same bucket, in units of ALIGNED; 0: none */
    uint32_t words;
    bool fp_counts;
    struct word word[];
};

/* Where no callers are wanted, a return address is all there is to remember. */
struct site {
    uint64_t place;
    uint32_t path;
};

/* What a thread remembers. Full, it begins anew. */
struct stack_memory {
    uint32_t generation;
    uint32_t used; /* of the arena, in units of ALIGNED */
    uint32_t bucket[BUCKETS];
    struct site site[BUCKETS];
    uint64_t arena[ARENA_BYTES / ALIGNED];
    struct walk walk; /* working memory */
};

unsigned places_depth;

/* Modules, rules and rows are shared by all threads. The lock may be taken between store_begin and store_end, not the
 * other way round. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t generation = 1; /* of the code in memory: some was unloaded when it changes */
static uint32_t forgotten = 1;  /* generation whose predecessors' rules are forgotten */

void places_prepare(void)
{
    const char *wanted = setting_text("TRACELIB_STACK");
    char *end = NULL;
    places_depth = DEFAULT_DEPTH;
    if (!wanted || strcmp(wanted, "all") == 0) return;
    long depth = strtol(wanted, &end, 10);
    if (*end || depth < 0 || end == wanted)
        setting_trouble("TRACELIB_STACK=%s is neither a number of callers nor all: all are recorded", wanted);
    else
        places_depth = depth < MOST_FRAMES ? (unsigned)depth : MOST_FRAMES;
}

int places_started(struct store *store)
{
    pthread_mutex_lock(&lock);
    int error = path_rows_write(store);
    pthread_mutex_unlock(&lock);
    return error;
}

void places_leave(struct thread *t)
{
    if (t->stacks) munmap(t->stacks, sizeof *t->stacks);
    t->stacks = NULL;
}

static uint32_t bucket_of(uint64_t place, uint64_t sp)
{
    return (uint32_t)(((place * 3 ^ sp) * UINT64_C(0x9e3779b97f4a7c15)) >> 52);
}

static struct site *site_of(struct stack_memory *m, uint64_t place)
{
    return &m->site[place / 2 % BUCKETS];
}

static struct remembered *at(struct stack_memory *m, uint32_t number)
{
    return (struct remembered *)&m->arena[number];
}

static inline bool is_same(const struct remembered *r, uint64_t fp)
{
    if (r->fp_counts && r->fp != fp) return false;
    for (uint32_t i = 0; i < r->words;
         i++) /* in the order of reading: a word is there if those before it are the same */
        if (*(const uint64_t *)r->word[i].at != r->word[i].value) return false;
    return true;
}

static void forget(struct stack_memory *m, uint32_t now)
{
    memset(m->bucket, 0, sizeof m->bucket);
    memset(m->site, 0, sizeof m->site);
    m->used = 1;
    m->generation = now;
}

static struct stack_memory *memory_of(struct thread *t)
{
    if (t->stacks) return t->stacks;
    void *new =
        mmap(NULL, sizeof *t->stacks, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (new == MAP_FAILED) return NULL;
    t->stacks = new;
    return t->stacks;
}

static uint32_t row_of_place(uint32_t parent, uint64_t place, bool exact)
{
    const struct module *m = modules_find(exact ? place : place - 1);
    uint32_t row = m ? modules_row(m) : 0;
    return path_row(parent, row, row ? place - m->base : PATH_LOST);
}

/* The row of the path, its outermost place first. */
static uint32_t row_of_walk(const struct walk *w)
{
    uint32_t row = 0;
    if (w->end == WALK_CUT) row = path_row(0, 0, PATH_CUT);
    if (w->end == WALK_LOST) row = path_row(0, 0, PATH_LOST);
    for (unsigned i = w->frames; i-- > 0;) row = row_of_place(row, w->places[i], w->exact[i]);
    return row;
}

/* Rows that are new go to the file at once: a call's row may follow, and the process may be killed. */
static void write_new_rows(void)
{
    if (!store_begin()) return;
    struct store *store = rank_file_store();
    int error = store ? places_started(store) : 0;
    if (error) rank_file_failed(error);
    store_end();
}

static uint32_t find_row(struct walk *w)
{
    pthread_mutex_lock(&lock);
    uint32_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE), before = path_rows_count();
    if (forgotten != now) walk_forget();
    forgotten = now;
    walk_stack(w, places_depth);
    uint32_t row = row_of_walk(w);
    bool is_new = path_rows_count() != before;
    pthread_mutex_unlock(&lock);
    if (is_new) write_new_rows();
    return row;
}

static uint32_t in_bucket(struct stack_memory *m, uint32_t first)
{
    uint32_t n = 0;
    for (; first; first = at(m, first)->next) n++;
    return n;
}

static void remember(struct stack_memory *m, uint32_t bucket, const struct walk *w, uint32_t path)
{
    uint64_t bytes = sizeof(struct remembered) + w->words * sizeof w->word[0], units = bytes / ALIGNED;
    if (m->used + units > ARENA_BYTES / ALIGNED) forget(m, m->generation);
    if (in_bucket(m, m->bucket[bucket]) >= MOST_IN_BUCKET) m->bucket[bucket] = 0;
    struct remembered *r = at(m, m->used);
    *r = (struct remembered){w->place, w->sp, w->fp, path, m->bucket[bucket], w->words, w->fp_counts};
    memcpy(r->word, w->word, w->words * sizeof w->word[0]);
    m->bucket[bucket] = m->used;
    m->used += (uint32_t)units;
}

static __attribute__((noinline, cold)) uint32_t find_anew(struct thread *t, uint64_t place, uint64_t sp, uint64_t fp)
{
    struct stack_memory *m = memory_of(t);
    if (!m) return 0;
    uint32_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    if (m->generation != now) forget(m, now);
    m->walk.place = place;
    m->walk.sp = sp;
    m->walk.fp = fp;
    uint32_t path = find_row(&m->walk);
    if (places_depth == 1)
        *site_of(m, place) = (struct site){place, path};
    else
        remember(m, bucket_of(place, sp), &m->walk, path);
    return path;
}

uint32_t places_find(struct thread *t, const uint64_t *frame, uint64_t sp)
{
    const uint64_t fp = frame[0], place = frame[1];
    struct stack_memory *m = t->stacks;
    if (__builtin_expect(m && m->generation == __atomic_load_n(&generation, __ATOMIC_RELAXED), 1)) {
        if (places_depth == 1) {
            const struct site *site = site_of(m, place);
            return site->place == place ? site->path : find_anew(t, place, sp, fp);
        }
        for (uint32_t i = m->bucket[bucket_of(place, sp)]; i; i = at(m, i)->next) {
            const struct remembered *r = at(m, i);
            if (r->place == place && r->sp == sp && is_same(r, fp)) return r->path;
        }
    }
    return find_anew(t, place, sp, fp);
}

/* Other code may come to where a library was: what is remembered of it does not count any more. */
__attribute__((visibility("default"))) int dlclose(void *handle)
{
    static int (*real)(void *);
    if (!real) real = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
    int result = real ? real(handle) : -1;
    __atomic_fetch_add(&generation, 1, __ATOMIC_ACQ_REL);
    return result;
}
