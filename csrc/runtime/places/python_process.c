#define _GNU_SOURCE
#include "places/internal/python_process.h"

#include <link.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/symbols.h"

/* A thread without Python pays for every LOOK_EVERYth call only, once its first ones have looked. */
enum { FIRST_LOOKS = 64, LOOK_EVERY = 256, MOST_WAITS = 1000 };
enum state { LOOKING, LOADED, STARTED, NOT_KNOWN, WRITING };

/* Addresses in a CPython that are needed. */
struct addresses {
    const char *(*thread_state)(void);
    const char *(*last_interpreter)(void);
    const char *(*version)(void);
    int (*is_ending)(void);
    const char *code_type, *text_type, *bytes_type, *type_type;
    const void *runtime; /* NULL: it has none that can be seen */
    bool debug;          /* its objects may begin with more */
};

static enum state state;
static struct addresses loaded;
static struct python_process started;
static __thread unsigned calls;
static __thread bool only_known;    /* this thread may not look for it now */
static unsigned long long searched; /* how many libraries had ever been loaded when all were searched in vain */

struct search {
    struct symbols program; /* its copies of data are those that count, where it has some (copy relocations) */
    bool has_program, found;
    unsigned long long loaded; /* how many libraries have ever been */
    struct addresses at;
};

static const void *datum(const struct search *s, const struct symbols *library, const char *name)
{
    const void *copy = s->has_program ? symbols_find(&s->program, name) : NULL;
    return copy ? copy : symbols_find(library, name);
}

/* False: this is no CPython, or one whose functions do not all show. */
static bool take_symbols(struct search *s, const struct symbols *library)
{
    struct addresses *a = &s->at;
    *(void **)&a->thread_state = symbols_find(library, "PyGILState_GetThisThreadState");
    if (!a->thread_state) return false;
    *(void **)&a->last_interpreter = symbols_find(library, "PyInterpreterState_Head");
    *(void **)&a->version = symbols_find(library, "Py_GetVersion");
    *(void **)&a->is_ending = symbols_find(library, "Py_IsFinalizing");
    if (!a->is_ending) *(void **)&a->is_ending = symbols_find(library, "_Py_IsFinalizing");
    a->code_type = datum(s, library, "PyCode_Type");
    a->text_type = datum(s, library, "PyUnicode_Type");
    a->bytes_type = datum(s, library, "PyBytes_Type");
    a->type_type = datum(s, library, "PyType_Type");
    a->runtime = datum(s, library, "_PyRuntime");
    a->debug = symbols_find(library, "_Py_RefTotal") || symbols_find(library, "_Py_AddToAllObjects");
    return a->last_interpreter && a->version && a->is_ending && a->code_type && a->text_type && a->bytes_type &&
           a->type_type;
}

static int look_into_module(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct search *s = data;
    const ElfW(Dyn) *dynamic = NULL;
    struct symbols symbols;
    bool is_program = !s->loaded;
    s->loaded = info->dlpi_adds;
    if (s->loaded == __atomic_load_n(&searched, __ATOMIC_RELAXED)) return 1;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    if (!dynamic || !symbols_open(&symbols, info->dlpi_addr, dynamic)) return 0;
    if (is_program) s->program = symbols;
    s->has_program |= is_program;
    s->found = take_symbols(s, &symbols);
    return s->found;
}

/* Has this Python started? Only then are its functions called: a library that is just being loaded has symbols, but
 * the addresses in it may not have been filled in. A type becomes ready in Py_Initialize. */
static bool has_started(const struct addresses *a, const struct python_layout *layout)
{
    enum { READY = 1 << 12 };
    const char *type;
    unsigned long flags;
    memcpy(&type, a->code_type + layout->object.type, sizeof type);
    memcpy(&flags, a->code_type + layout->type_flags, sizeof flags);
    return type == a->type_type && flags & READY;
}

/* The minor version of "3.11.7 (main, ...) [GCC 12.2.0]": a release or its candidate, compiled as CPython is. Others,
 * of which some also call themselves Python, have a word in between, or another compiler. 0: it is none such. */
static unsigned minor_of(const char *version)
{
    char *end;
    if (strncmp(version, "3.", 2) != 0) return 0;
    unsigned long minor = strtoul(version + 2, &end, 10);
    if (*end != '.') return 0;
    strtoul(end + 1, &end, 10);
    if (strncmp(end, "rc", 2) == 0) strtoul(end + 2, &end, 10);
    if (*end == '+') end++;
    bool plain = *end == ' ' && !strstr(end, "PyPy") && !strstr(end, "Graal");
    return plain && (strstr(end, "[GCC ") || strstr(end, "[Clang ")) ? (unsigned)minor : 0;
}

/* Not for ever: a process that was forked just then has nobody who writes. */
static enum state written(void)
{
    enum state now = WRITING;
    for (unsigned i = 0; now == WRITING && i < MOST_WAITS; i++) {
        sched_yield();
        now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    }
    return now;
}

/* All threads find the same; one of them writes it down. */
static enum state change_state(enum state from, enum state to, const struct addresses *addresses,
                               const struct python_process *python)
{
    enum state now = from;
    if (__atomic_compare_exchange_n(&state, &now, WRITING, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        if (addresses) loaded = *addresses;
        if (python) started = *python;
        __atomic_store_n(&state, to, __ATOMIC_RELEASE);
        return to;
    }
    return now == WRITING ? written() : now;
}

static enum state look_at_process(void)
{
    struct search search = {.found = false};
    dl_iterate_phdr(look_into_module, &search);
    if (search.found) return change_state(LOOKING, search.at.debug ? NOT_KNOWN : LOADED, &search.at, NULL);
    __atomic_store_n(&searched, search.loaded, __ATOMIC_RELAXED);
    return LOOKING;
}

static enum state understand(const struct addresses *a)
{
    struct python_process python = {
        .code_type = a->code_type,
        .text_type = a->text_type,
        .bytes_type = a->bytes_type,
        .thread_state = a->thread_state,
        .is_ending = a->is_ending,
        .last_interpreter = a->last_interpreter,
    };
    unsigned published = python_layout_published(a->runtime);
    if (!python_layout_find(&python.layout, published ? published : PYTHON_FIRST_MINOR, a->runtime))
        return change_state(LOADED, NOT_KNOWN, NULL, NULL);
    if (!has_started(a, &python.layout)) return LOADED;
    unsigned minor = minor_of(a->version());
    bool known = (!published || minor == published) && python_layout_find(&python.layout, minor, a->runtime);
    return change_state(LOADED, known ? STARTED : NOT_KNOWN, NULL, &python);
}

const struct python_process *python_process(void)
{
    enum state now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    if (__builtin_expect(now == STARTED, 1)) return &started;
    if (only_known) return NULL;
    if (now == LOOKING) {
        unsigned call = calls++;
        if (call < FIRST_LOOKS || call % LOOK_EVERY == 0) now = look_at_process();
    }
    if (now == WRITING) now = written();
    if (now == LOADED) now = understand(&loaded);
    return now == STARTED ? &started : NULL;
}

void python_process_only_known(bool only)
{
    only_known = only;
}

/* Threads that only use an interpreter found before find it where it was, or have nothing to use any more. */
void python_process_look(void)
{
    enum state now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    if (now == LOADED || now == STARTED)
        __atomic_compare_exchange_n(&state, &now, LOOKING, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    if (now != NOT_KNOWN) look_at_process();
}
