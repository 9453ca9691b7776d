#define _GNU_SOURCE
#include "places/places.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "clock/clock.h"
#include "common/settings.h"
#include "places/internal/code.h"
#include "places/internal/known_stacks.h"
#include "places/internal/modules.h"
#include "places/internal/pages.h"
#include "places/internal/path_rows.h"
#include "places/internal/python_process.h"
#include "places/internal/stack_path.h"
#include "record/rank_file.h"

enum { DEFAULT_DEPTH = MOST_FRAMES };

/* Limits of the time that a thread spends on stacks that it does not know: a part of its time, and at once no more than
 * a fraction of a second. A thread that has spent more looks for fewer callers only, then for the place alone. In
 * ticks: of the counter of a processor, or ns. */
enum { PART_OF_TIME = 10, SHORT_DEPTH = 8, SAVED_AT_MOST = 1 << 29, OWED_AT_MOST = 1 << 27 };

/* Number of looks at stacks of which one is timed: a prime, as calls come in patterns. */
enum { TIMED_EVERY = 61 };

/* Stacks that a thread remembers, and its working memory. */
struct stack_memory {
    struct sites sites;
    bool sites_used;
    uint32_t untimed; /* looks until one is timed */
    int64_t credit;   /* ticks that may be spent; negative: too many were */
    uint64_t since;   /* ticks: until then it has grown */
    struct known_stacks known;
    struct walk walk;
    struct interpreted python;
};

unsigned places_depth;
uint32_t places_generation = 1;
uint64_t places_shortened;

pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;
/* Looks at stacks that were timed, by any thread. */
static struct {
    uint64_t n, ticks;
} timed;
static uint32_t unloading;     /* number of threads in dlclose */
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
    if (t->stacks) known_end(&t->stacks->known);
    pages_free(t->stacks, sizeof *t->stacks);
    t->stacks = NULL;
}

void places_forked(void)
{
    pthread_mutex_init(&places_lock, NULL);
    unloading = 0;
}

static void forget_stacks(struct stack_memory *m, uint32_t now)
{
    if (m->sites_used) memset(m->sites.site, 0, sizeof m->sites.site);
    m->sites_used = false;
    known_forget(&m->known);
    m->sites.generation = now;
}

static struct stack_memory *memory_of(struct thread *t)
{
    if (t->stacks) return t->stacks;
    struct stack_memory *new = pages_grown(NULL, 0, sizeof *new);
    if (!new) return NULL;
    if (!known_begin(&new->known, places_depth)) return pages_free(new, sizeof *new), NULL;
    new->credit = SAVED_AT_MOST;
    new->since = clock_ticks();
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
static uint32_t find_path_row(struct stack_memory *m, unsigned depth, uint32_t *now)
{
    pthread_mutex_lock(&places_lock);
    uint32_t before = path_rows_count();
    *now = places_generation_now();
    walk_stack(&m->walk, depth);
    stack_ask_python(&m->walk, &m->python, depth);
    uint32_t row = stack_path(&m->walk, &m->python, depth, depth < places_depth ? PATH_SHORT : PATH_CUT);
    bool is_new = path_rows_count() != before;
    pthread_mutex_unlock(&places_lock);
    if (is_new) write_new_rows();
    return row;
}

static uint32_t find_and_remember(struct stack_memory *m, unsigned depth)
{
    uint32_t now, path = find_path_row(m, depth, &now);
    if (m->sites.generation != now) forget_stacks(m, now);
    if (depth == 1) {
        *site_of(&m->sites, m->walk.place) = (struct site){m->walk.place, path, m->python.n > 0};
        m->sites_used = true;
    }
    if (depth == places_depth && (depth > 1 || m->python.n)) known_add(&m->known, &m->walk, &m->python, path);
    return path;
}

/* How many callers the thread may look for. */
static unsigned affordable(struct stack_memory *m, uint64_t now)
{
    if (now > m->since) {
        uint64_t earned = (now - m->since) / PART_OF_TIME, room = (uint64_t)(SAVED_AT_MOST - m->credit);
        m->credit += (int64_t)(earned < room ? earned : room);
        m->since = now;
    }
    unsigned depth = m->credit > 0 ? places_depth : m->credit > -OWED_AT_MOST / 2 ? SHORT_DEPTH : 1;
    return depth < places_depth ? depth : places_depth;
}

static void pay(struct stack_memory *m, uint64_t began)
{
    uint64_t now = clock_ticks();
    if (now > began) m->credit -= (int64_t)(now - began);
    if (m->credit < -OWED_AT_MOST) m->credit = -OWED_AT_MOST;
}

static bool is_current(const struct stack_memory *m)
{
    return m->sites.generation == __atomic_load_n(&places_generation, __ATOMIC_RELAXED);
}

uint32_t places_find(struct thread *t, const uint64_t *frame, uint64_t sp)
{
    struct stack_memory *m = memory_of(t);
    if (!m) return 0;
    uint64_t now = clock_ticks();
    unsigned depth = affordable(m, now);
    m->walk.place = frame[1];
    m->walk.sp = sp;
    m->walk.fp_at = (uint64_t)frame;
    if (depth < places_depth) __atomic_fetch_add(&places_shortened, 1, __ATOMIC_RELAXED);
    uint32_t path = find_and_remember(m, depth);
    pay(m, now);
    return path;
}

static bool is_our_code(uint64_t code)
{
    const struct module *own = modules_find((uint64_t)&places_frame_is_gone);
    return own && code - own->begin < own->end - own->begin;
}

/* A live frame of a wrapper has its return address on the way outwards, below its CFA; there may be that of another
 * function now. The way lies on the same stack if it goes past the frame. */
static bool passes_without(const struct walk *w, uint64_t cfa)
{
    bool passes = false;
    unsigned word = 0;
    for (unsigned i = 1; i < w->frames; i++)
        for (; word < w->words_before[i]; word++) {
            if (w->word[word].at == cfa - sizeof(uint64_t) && is_our_code(w->places[i - 1])) return false;
            passes = passes || w->word[word].at >= cfa;
        }
    return passes;
}

bool places_frame_is_gone(const uint64_t *frame, uint64_t sp, uint64_t cfa)
{
    static struct walk walk; /* too large for the program's stack */
    if (pthread_mutex_trylock(&places_lock)) return false;
    places_generation_now();
    walk.place = frame[1];
    walk.sp = sp;
    walk.fp_at = (uint64_t)frame;
    walk_stack(&walk, MOST_FRAMES);
    bool gone = walk.end == WALK_WHOLE && passes_without(&walk, cfa);
    pthread_mutex_unlock(&places_lock);
    return gone;
}

/* Where not even a few callers are affordable, the place alone may be known: that costs next to nothing. */
static __attribute__((noinline)) bool is_place_known(struct thread *t, struct stack_memory *m, uint64_t place)
{
    const struct site *site = site_of(&m->sites, place);
    if (m->credit > 0 || affordable(m, clock_ticks()) > 1 || site->place != place || site->in_python) return false;
    __atomic_fetch_add(&places_shortened, 1, __ATOMIC_RELAXED);
    t->path = site->path;
    return true;
}

static inline bool stack_is_known(struct thread *t, struct stack_memory *m, uint64_t place, uint64_t sp)
{
    return known_find(&m->known, place, sp, &t->path) || (places_depth > 1 && is_place_known(t, m, place));
}

static __attribute__((noinline)) bool is_known_timed(struct thread *t, struct stack_memory *m, uint64_t place,
                                                     uint64_t sp)
{
    uint64_t began = clock_ticks();
    bool known = stack_is_known(t, m, place, sp);
    uint64_t ended = clock_ticks();
    m->untimed = TIMED_EVERY;
    if (places_depth > 1 && ended > began) {
        __atomic_fetch_add(&timed.ticks, ended - began, __ATOMIC_RELAXED);
        __atomic_fetch_add(&timed.n, 1, __ATOMIC_RELAXED);
    }
    return known;
}

bool places_known(struct thread *t, const uint64_t *frame, uint64_t sp)
{
    struct stack_memory *m = t->stacks;
    if (__builtin_expect(!m || !is_current(m), 0)) return false;
    if (__builtin_expect(m->untimed-- == 0, 0)) return is_known_timed(t, m, frame[1], sp);
    return stack_is_known(t, m, frame[1], sp);
}

uint64_t places_look_ticks(void)
{
    uint64_t n = __atomic_load_n(&timed.n, __ATOMIC_RELAXED);
    return n ? __atomic_load_n(&timed.ticks, __ATOMIC_RELAXED) / n : 0;
}

void places_forget_looks(void)
{
    __atomic_store_n(&timed.n, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&timed.ticks, 0, __ATOMIC_RELAXED);
}

void places_look_around(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_mutex_lock(&places_lock);
    places_generation_now();
    modules_find((uint64_t)&places_look_around);
    pthread_mutex_unlock(&places_lock);
    python_process();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
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
    places_look_around();
    __atomic_fetch_sub(&unloading, 1, __ATOMIC_SEQ_CST);
    return result;
}
