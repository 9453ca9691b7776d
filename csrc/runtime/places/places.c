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
#include "places/internal/stack_path.h"
#include "record/rank_file.h"

enum { BUCKETS = 1 << 12, ARENA_BYTES = 1 << 20, ALIGNED = 8, MOST_IN_BUCKET = 8, DEFAULT_DEPTH = MOST_FRAMES };

/* A stack that was walked, and what was read then. */
struct remembered {
    uint64_t place, sp, fp;
    uint32_t path;
    uint32_t next; /* of the same bucket, in units of ALIGNED; 0: none */
    uint32_t words;
    uint16_t frames; /* of Python, behind the words */
    bool fp_counts;
    struct word word[];
};

struct python_place {
    struct python_frame frame;
    uint64_t mark;
};

/* Where no callers are wanted, a return address is all there is to remember. */
struct site {
    uint64_t place;
    uint32_t path;
    bool in_python; /* its path is not the same each time */
};

/* What a thread remembers. Full, it begins anew. */
struct stack_memory {
    uint32_t generation;
    uint32_t used; /* of the arena, in units of ALIGNED */
    uint32_t bucket[BUCKETS];
    struct site site[BUCKETS];
    uint64_t arena[ARENA_BYTES / ALIGNED];
    struct walk walk;          /* working memory */
    struct interpreted python; /* likewise: what was found, and what it is now */
    struct python_frame now[MOST_FRAMES];
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

static const struct python_place *python_of(const struct remembered *r)
{
    return (const struct python_place *)&r->word[r->words];
}

/* Python runs its functions without new frames on the stack: the same stack may stand for other code. */
static bool is_same_python(struct stack_memory *m, const struct remembered *r)
{
    const struct python_place *was = python_of(r);
    if (python_frames(m->now, places_depth) != r->frames) return false;
    for (unsigned i = 0; i < r->frames; i++)
        if (m->now[i].code != was[i].frame.code || m->now[i].instruction != was[i].frame.instruction) return false;
    for (unsigned i = 0; i < r->frames; i++)
        if (python_code_mark(&m->now[i]) != was[i].mark) return false;
    return true;
}

static inline bool is_same(struct stack_memory *m, const struct remembered *r, uint64_t fp)
{
    if (r->fp_counts && r->fp != fp) return false;
    for (uint32_t i = 0; i < r->words;
         i++) /* in the order of reading: a word is there if those before it are the same */
        if (*(const uint64_t *)r->word[i].at != r->word[i].value) return false;
    return !r->frames || is_same_python(m, r);
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

/* Rows that are new go to the file at once: a call's row may follow, and the process may be killed. */
static void write_new_rows(void)
{
    if (!store_begin()) return;
    struct store *store = rank_file_store();
    int error = store ? places_started(store) : 0;
    if (error) rank_file_failed(error);
    store_end();
}

static uint32_t find_row(struct stack_memory *m)
{
    pthread_mutex_lock(&lock);
    uint32_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE), before = path_rows_count();
    if (forgotten != now) walk_forget();
    forgotten = now;
    unsigned modules = modules_known();
    walk_stack(&m->walk, places_depth);
    if (modules_known() != modules) python_look_again(); /* it may have come with them */
    stack_ask_python(&m->walk, &m->python, places_depth);
    uint32_t row = stack_path(&m->walk, &m->python, places_depth);
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

static void remember(struct stack_memory *m, uint32_t bucket, uint32_t path)
{
    const struct walk *w = &m->walk;
    const struct interpreted *python = &m->python;
    uint64_t word_bytes = w->words * sizeof w->word[0], python_bytes = python->n * sizeof(struct python_place);
    uint64_t units = (sizeof(struct remembered) + word_bytes + python_bytes) / ALIGNED;
    if (m->used + units > ARENA_BYTES / ALIGNED) forget(m, m->generation);
    if (in_bucket(m, m->bucket[bucket]) >= MOST_IN_BUCKET) m->bucket[bucket] = 0;
    struct remembered *r = at(m, m->used);
    *r = (struct remembered){w->place,    w->sp, w->fp, path, m->bucket[bucket], w->words, (uint16_t)python->n,
                             w->fp_counts};
    memcpy(r->word, w->word, word_bytes);
    struct python_place *places = (struct python_place *)&r->word[w->words];
    for (unsigned i = 0; i < python->n; i++) places[i] = (struct python_place){python->frame[i], python->mark[i]};
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
    uint32_t path = find_row(m);
    if (places_depth == 1) *site_of(m, place) = (struct site){place, path, m->python.n > 0};
    if (places_depth > 1 || m->python.n) remember(m, bucket_of(place, sp), path);
    return path;
}

uint32_t places_find(struct thread *t, const uint64_t *frame, uint64_t sp)
{
    const uint64_t fp = frame[0], place = frame[1];
    struct stack_memory *m = t->stacks;
    if (__builtin_expect(m && m->generation == __atomic_load_n(&generation, __ATOMIC_RELAXED), 1)) {
        if (places_depth == 1) {
            const struct site *site = site_of(m, place);
            if (site->place == place && !site->in_python) return site->path;
        }
        for (uint32_t i = m->bucket[bucket_of(place, sp)]; i; i = at(m, i)->next) {
            const struct remembered *r = at(m, i);
            if (r->place == place && r->sp == sp && is_same(m, r, fp)) return r->path;
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
    python_look_again();
    return result;
}
