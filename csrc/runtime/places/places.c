#define _GNU_SOURCE
#include "places/places.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/settings.h"
#include "places/internal/code.h"
#include "places/internal/modules.h"
#include "places/internal/pages.h"
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
    bool elsewhere; /* some of it is not on the thread's own stack, and may be gone */
    struct word word[];
};

struct python_place {
    struct python_frame frame;
    uint64_t mark;
};

/* What a thread remembers. Full, it begins anew. */
struct stack_memory {
    struct sites sites;
    uint32_t used;              /* of the arena, in units of ALIGNED */
    uint64_t own_low, own_high; /* the thread's own stack, which is there as long as the thread */
    uint32_t bucket[BUCKETS];
    uint64_t arena[ARENA_BYTES / ALIGNED];
    struct walk walk; /* working memory */
    struct interpreted python;
    struct python_frame now[MOST_FRAMES];
};

unsigned places_depth;
uint32_t places_generation = 1;

pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t unloading;     /* so many threads are in dlclose */
static uint32_t forgotten = 1; /* generation whose predecessors' rules are forgotten */

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
    pthread_mutex_lock(&places_lock);
    int error = path_rows_write(store);
    pthread_mutex_unlock(&places_lock);
    return error;
}

void places_leave(struct thread *t)
{
    pages_free(t->stacks, sizeof *t->stacks);
    t->stacks = NULL;
}

void places_forked(void)
{
    pthread_mutex_init(&places_lock, NULL);
    unloading = 0;
}

static uint32_t bucket_of(uint64_t place, uint64_t sp)
{
    return (uint32_t)(((place * 3 ^ sp) * UINT64_C(0x9e3779b97f4a7c15)) >> 52);
}

static struct remembered *at(struct stack_memory *m, uint32_t number)
{
    return (struct remembered *)&m->arena[number];
}

static __attribute__((noinline, cold)) bool is_there(const struct remembered *r)
{
    uint64_t page = 0;
    bool there = true;
    for (uint32_t i = 0; i < r->words && there; i++) there = memory_is_there(r->word[i].at, &page);
    return there;
}

/* Python runs its functions without new frames on the stack: the same stack may stand for other code. */
static bool is_same_python(struct stack_memory *m, const struct remembered *r)
{
    const struct python_place *was = (const struct python_place *)&r->word[r->words];
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
    if (__builtin_expect(r->elsewhere, 0) && !is_there(r)) return false;
    for (uint32_t i = 0; i < r->words; i++)
        if (*(const uint64_t *)r->word[i].at != r->word[i].value) return false;
    return !r->frames || is_same_python(m, r);
}

static void forget(struct stack_memory *m, uint32_t now)
{
    if (places_depth == 1) memset(m->sites.site, 0, sizeof m->sites.site);
    memset(m->bucket, 0, sizeof m->bucket);
    m->used = 1;
    m->sites.generation = now;
}

static void find_own_stack(struct stack_memory *m)
{
    pthread_attr_t attributes;
    void *low;
    size_t bytes;
    if (pthread_getattr_np(pthread_self(), &attributes)) return;
    if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
        m->own_low = (uint64_t)low;
        m->own_high = m->own_low + bytes;
    }
    pthread_attr_destroy(&attributes);
}

static struct stack_memory *memory_of(struct thread *t)
{
    if (t->stacks) return t->stacks;
    struct stack_memory *new = pages_grown(NULL, 0, sizeof *new);
    if (!new) return NULL;
    find_own_stack(new);
    t->stacks = new;
    return new;
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

uint32_t places_generation_now(void)
{
    if (modules_changed()) {
        __atomic_fetch_add(&places_generation, 1, __ATOMIC_ACQ_REL);
        python_look_again();
    }
    uint32_t now = __atomic_load_n(&places_generation, __ATOMIC_ACQUIRE);
    if (forgotten != now) walk_forget();
    forgotten = now;
    return now;
}

bool places_code_is_known(void)
{
    return !__atomic_load_n(&unloading, __ATOMIC_SEQ_CST) &&
           forgotten == __atomic_load_n(&places_generation, __ATOMIC_ACQUIRE);
}

/* The row of a stack, of whose words nothing is known, and the generation of which it is. */
static uint32_t find_row(struct stack_memory *m, uint32_t *now)
{
    pthread_mutex_lock(&places_lock);
    uint32_t before = path_rows_count();
    *now = places_generation_now();
    walk_stack(&m->walk, places_depth);
    stack_ask_python(&m->walk, &m->python, places_depth);
    uint32_t row = stack_path(&m->walk, &m->python, places_depth);
    bool is_new = path_rows_count() != before;
    pthread_mutex_unlock(&places_lock);
    if (is_new) write_new_rows();
    return row;
}

static uint32_t in_bucket(struct stack_memory *m, uint32_t first)
{
    uint32_t n = 0;
    for (; first; first = at(m, first)->next) n++;
    return n;
}

static bool is_elsewhere(const struct stack_memory *m, const struct walk *w)
{
    if (w->sp < m->own_low || w->sp > m->own_high) return true;
    for (unsigned i = 0; i < w->words; i++)
        if (w->word[i].at < w->sp || w->word[i].at >= m->own_high) return true;
    return false;
}

static void remember(struct stack_memory *m, uint32_t bucket, uint32_t path)
{
    const struct walk *w = &m->walk;
    const struct interpreted *python = &m->python;
    uint64_t word_bytes = w->words * sizeof w->word[0], python_bytes = python->n * sizeof(struct python_place);
    uint64_t units = (sizeof(struct remembered) + word_bytes + python_bytes) / ALIGNED;
    if (m->used + units > ARENA_BYTES / ALIGNED) forget(m, m->sites.generation);
    if (in_bucket(m, m->bucket[bucket]) >= MOST_IN_BUCKET) m->bucket[bucket] = 0;
    struct remembered *r = at(m, m->used);
    *r = (struct remembered){.place = w->place,
                             .sp = w->sp,
                             .fp = w->fp,
                             .path = path,
                             .next = m->bucket[bucket],
                             .words = w->words,
                             .frames = (uint16_t)python->n,
                             .fp_counts = w->fp_counts,
                             .elsewhere = is_elsewhere(m, w)};
    memcpy(r->word, w->word, word_bytes);
    struct python_place *places = (struct python_place *)&r->word[w->words];
    for (unsigned i = 0; i < python->n; i++) places[i] = (struct python_place){python->frame[i], python->mark[i]};
    m->bucket[bucket] = m->used;
    m->used += (uint32_t)units;
}

static uint32_t find_and_remember(struct thread *t, uint64_t place, uint64_t sp, uint64_t fp)
{
    struct stack_memory *m = memory_of(t);
    uint32_t now;
    if (!m) return 0;
    m->walk.place = place;
    m->walk.sp = sp;
    m->walk.fp = fp;
    uint32_t path = find_row(m, &now);
    if (m->sites.generation != now) forget(m, now);
    if (places_depth == 1) *site_of(&m->sites, place) = (struct site){place, path, m->python.n > 0};
    if (places_depth > 1 || m->python.n) remember(m, bucket_of(place, sp), path);
    return path;
}

/* No handler of the program's may come to a call of MPI here, and it sees nothing of what happens here. */
static __attribute__((noinline, cold)) uint32_t find_anew(struct thread *t, uint64_t place, uint64_t sp, uint64_t fp)
{
    sigset_t all, before;
    int error = errno;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    uint32_t path = find_and_remember(t, place, sp, fp);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return path;
}

uint32_t places_find(struct thread *t, const uint64_t *frame, uint64_t sp)
{
    const uint64_t fp = frame[0], place = frame[1];
    struct stack_memory *m = t->stacks;
    if (__builtin_expect(m && m->sites.generation == __atomic_load_n(&places_generation, __ATOMIC_RELAXED), 1)) {
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
    __atomic_fetch_add(&unloading, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&places_lock); /* handlers that came before this are done, and those after it look at nothing */
    pthread_mutex_unlock(&places_lock);
    int result = real ? real(handle) : -1;
    __atomic_fetch_add(&places_generation, 1, __ATOMIC_ACQ_REL);
    __atomic_fetch_sub(&unloading, 1, __ATOMIC_SEQ_CST);
    python_look_again();
    return result;
}
