/* Counters of PAPI, by dlopen: its presets (PAPI_TOT_INS, ...) and every other name that it knows.
 *
 * A program that brings PAPI itself keeps it: PAPI lets a thread run one set of events for each kind of hardware, so
 * ours would make its PAPI_start fail. TRACELIB_PAPI=share counts beside it all the same. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "counters/counters.h"

/* papi.h; the same in PAPI 5, 6 and 7. */
enum { OK = 0, NO_SET = -1, OPTION_LIBRARY_VERSION = 21, INITED_THREADS = 4 };
#define PRESET_MASK 0x80000000u

static struct {
    int (*is_initialized)(void);
    int (*get_opt)(int option, void *value);
    int (*library_init)(int version);
    int (*thread_init)(unsigned long (*id)(void));
    int (*event_name_to_code)(const char *name, int *code);
    int (*create_eventset)(int *set);
    int (*add_event)(int set, int code);
    int (*start)(int set);
    int (*read)(int set, long long *values);
    int (*stop)(int set, long long *values);
    int (*cleanup_eventset)(int set);
    int (*destroy_eventset)(int *set);
    char *(*strerror)(int error);
} papi;

static const struct {
    const char *name;
    void *at;
} functions[] = {
    {"PAPI_is_initialized", &papi.is_initialized},
    {"PAPI_get_opt", &papi.get_opt},
    {"PAPI_library_init", &papi.library_init},
    {"PAPI_thread_init", &papi.thread_init},
    {"PAPI_event_name_to_code", &papi.event_name_to_code},
    {"PAPI_create_eventset", &papi.create_eventset},
    {"PAPI_add_event", &papi.add_event},
    {"PAPI_start", &papi.start},
    {"PAPI_read", &papi.read},
    {"PAPI_stop", &papi.stop},
    {"PAPI_cleanup_eventset", &papi.cleanup_eventset},
    {"PAPI_destroy_eventset", &papi.destroy_eventset},
    {"PAPI_strerror", &papi.strerror},
};

static const char *const libraries[] = {"libpapi.so.7.2", "libpapi.so.7.1", "libpapi.so.7.0", "libpapi.so.7",
                                        "libpapi.so.6.0", "libpapi.so.6",   "libpapi.so.5",   "libpapi.so"};
enum { LIBRARIES = sizeof libraries / sizeof libraries[0] };

/* One thread's events: PAPI wants those of different components in different sets. */
struct sets {
    unsigned n;
    unsigned in[MOST_COUNTERS]; /* counters of each set */
    int set[MOST_COUNTERS];
    unsigned position[MOST_COUNTERS][MOST_COUNTERS]; /* of each set's counters among all */
};

static bool programs_own(void)
{
    for (int i = 0; i < LIBRARIES; i++) {
        void *loaded = dlopen(libraries[i], RTLD_NOW | RTLD_NOLOAD);
        if (loaded) return dlclose(loaded), true;
    }
    return dlsym(RTLD_DEFAULT, "PAPI_library_init") != NULL;
}

static void *papi_open_library(void)
{
    const char *wanted = getenv("TRACELIB_PAPI_LIBRARY");
    if (wanted && wanted[0]) return dlopen(wanted, RTLD_NOW | RTLD_LOCAL);
    void *library = NULL;
    for (int i = 0; !library && i < LIBRARIES; i++) library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* NULL, or why PAPI cannot be used. */
static const char *start_library(void)
{
    const char *sharing = getenv("TRACELIB_PAPI");
    if (programs_own() && !(sharing && strcmp(sharing, "share") == 0))
        return "the program uses PAPI itself (TRACELIB_PAPI=share counts beside it)";
    void *library = papi_open_library();
    if (!library) return "no libpapi is found (TRACELIB_PAPI_LIBRARY names one)";
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (!(*(void **)functions[i].at = dlsym(library, functions[i].name))) return "libpapi lacks a function";
    int version = papi.get_opt(OPTION_LIBRARY_VERSION, NULL);
    if (!papi.is_initialized() && papi.library_init(version) != version) return "PAPI does not start";
    if (!(papi.is_initialized() & INITED_THREADS) && papi.thread_init(pthread_self) != OK)
        return "PAPI does not start for threads";
    return NULL;
}

static const char *papi_find(struct counter *c)
{
    static bool tried;
    static const char *trouble;
    int code;
    if (!tried) trouble = start_library();
    tried = true;
    if (trouble) return trouble;
    int error = papi.event_name_to_code(c->name, &code);
    if (error != OK) return papi.strerror(error);
    c->code = (uint32_t)code;
    c->type = c->code & PRESET_MASK ? PAPI_PRESET_BASE + (c->code & 0xffff) : counter_type_by_name(c->name);
    return NULL;
}

static void papi_end(void *handle)
{
    struct sets *s = handle;
    long long unused[MOST_COUNTERS];
    for (unsigned i = 0; i < s->n; i++) {
        papi.stop(s->set[i], unused);
        papi.cleanup_eventset(s->set[i]);
        papi.destroy_eventset(&s->set[i]);
    }
    free(s);
}

/* Into the first set that takes it, else into one of its own. */
static int papi_add(struct sets *s, int code, unsigned position)
{
    unsigned i = 0;
    int error = OK;
    while (i < s->n && papi.add_event(s->set[i], code) != OK) i++;
    if (i == s->n) {
        s->set[i] = NO_SET;
        error = papi.create_eventset(&s->set[i]);
        if (error != OK) return error;
        s->n++;
        error = papi.add_event(s->set[i], code);
        if (error != OK) return error;
    }
    s->position[i][s->in[i]++] = position;
    return OK;
}

static void *papi_begin(const struct counter *counters, unsigned n, const char **why)
{
    struct sets *s = calloc(1, sizeof *s);
    int error = OK;
    *why = "no memory";
    if (!s) return NULL;
    for (unsigned i = 0; error == OK && i < n; i++) error = papi_add(s, (int)counters[i].code, i);
    for (unsigned i = 0; error == OK && i < s->n; i++) error = papi.start(s->set[i]);
    if (error == OK) return s;
    *why = papi.strerror(error);
    papi_end(s);
    return NULL;
}

static bool papi_take(void *handle, uint64_t *values)
{
    const struct sets *s = handle;
    long long some[MOST_COUNTERS];
    if (s->n == 1) return papi.read(s->set[0], (long long *)values) == OK;
    for (unsigned i = 0; i < s->n; i++) {
        if (papi.read(s->set[i], some) != OK) return false;
        for (unsigned k = 0; k < s->in[i]; k++) values[s->position[i][k]] = (uint64_t)some[k];
    }
    return true;
}

const struct backend papi_backend = {papi_find, papi_begin, papi_take, NULL, papi_end};
