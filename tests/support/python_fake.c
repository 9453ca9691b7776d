/* A program that looks like a CPython of 3.MINOR in which a function is called by another one, called by the module:
 *
 *     python_fake MINOR VERSION CASES
 *
 * writes how many frames are found of it, and where; and then, of CASES processes in which some words of it were
 * changed at random, how many died and how many had known frames. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "places/internal/python_layout.h"
#include "places/python.h"

enum { PAGE = 4096, FRAMES = 3, EACH = 512, USED = EACH * (1 + 2 * FRAMES) };
enum { ROOM = 8, READY = 1 << 12, MOST_DAMAGE = 3, WORDS = 80 };
#define EXPORTED __attribute__((visibility("default")))

static char *memory; /* all that Python has; after it comes memory that cannot be read */
static const char *version;

/* As 3.13 publishes it: cookie, version, free_threaded; then each struct's size, and the offsets in it. */
EXPORTED uint64_t _PyRuntime[WORDS] = {
    [1] = 0x030d01f0,
    0,
    [19] = 400,
    0,
    8,
    16,
    72,
    152,
    160,
    [28] = 88,
    8,
    0,
    56,
    72,
    70,
    [34] = 208,
    112,
    120,
    128,
    136,
    68,
    52,
    96,
    104,
    200,
    [44] = 16,
    8,
    [46] = 408,
    24,
    88,
    168,
    [64] = 40,
    16,
    32,
    [67] = 64,
    32,
    16,
    40,
};
EXPORTED char PyCode_Type[512], PyUnicode_Type[512], PyBytes_Type[512], PyType_Type[512];

EXPORTED void *PyGILState_GetThisThreadState(void)
{
    return memory;
}
EXPORTED void *PyInterpreterState_Head(void)
{
    return memory + EACH - 2 * sizeof(void *);
}
EXPORTED const char *Py_GetVersion(void)
{
    return version;
}
EXPORTED int _Py_IsFinalizing(void)
{
    return 0;
}

static void put(char *at, uint32_t offset, const void *value)
{
    memcpy(at + offset, &value, sizeof value);
}

static char *put_text(const struct python_layout *l, char *at, const char *text)
{
    uint32_t compact_ascii = 1 << 2 | 0x60;
    put(at, l->object.type, PyUnicode_Type);
    put(at, l->text.length, (void *)strlen(text));
    memcpy(at + l->text.state, &compact_ascii, sizeof compact_ascii);
    strcpy(at + l->text.ascii, text);
    return at;
}

/* A code object of one line, first + 1, which begins at the code's first byte. */
static char *put_code(const struct python_layout *l, char *at, const char *function, int32_t first)
{
    const char *table = l->minor < 10    ? "\0\1"
                        : l->minor == 10 ? "\10\1"
                                         : "\xdb\0"; /* \xdb: 4 units, a step, no column */
    char *file = at + 240, *name = file + 80, *lines = name + 80;
    put(at, l->object.type, PyCode_Type);
    put(at, l->object.size, (void *)4);
    put(at, l->code.file, put_text(l, file, "fake.py"));
    put(at, l->code.function, put_text(l, name, function));
    put(at, l->code.lines, lines);
    memcpy(at + l->code.first_line, &first, sizeof first);
    put(lines, l->object.type, PyBytes_Type);
    put(lines, l->object.size, (void *)2);
    memcpy(lines + l->bytes, table, 2);
    if (l->minor > 10) lines[l->bytes + 1] = 2;
    return at;
}

static void build(const struct python_layout *l)
{
    static const char *const names[FRAMES] = {"inner", "outer", "<module>"};
    char *frames[FRAMES + 1] = {NULL}, *at = memory + EACH;
    for (int i = 0; i < FRAMES; i++, at += EACH) frames[i] = at;
    put(memory, l->thread.id, (void *)pthread_self());
    put(memory, l->thread.frame, frames[0]);
    if (l->thread.indirect) {
        put(memory, l->thread.frame, memory + EACH / 2);
        put(memory + EACH / 2, l->thread.inside, frames[0]);
    }
    for (int i = 0; i < FRAMES; i++, at += EACH) {
        char *code = put_code(l, at, names[i], 10 * (i + 1));
        put(frames[i], l->frame.code, code);
        put(frames[i], l->frame.previous, frames[i + 1]);
        if (l->frame.kind == INSTRUCTION_AT) put(frames[i], l->frame.instruction, code + l->code.instructions + 2);
    }
}

static uint64_t random_word(void)
{
    return (uint64_t)random() << 32 ^ (uint64_t)random();
}

static uint64_t wrong_word(void)
{
    uint64_t inside = (uint64_t)memory + random_word() % USED;
    switch (random() % 6) {
    case 0:
        return 0;
    case 1:
        return random_word() % 300;
    case 2:
        return random_word();
    case 3:
        return inside;
    case 4:
        return inside & ~7ULL;
    default:
        return (uint64_t)memory + USED - random_word() % 64;
    }
}

/* Words that are not 0, mostly of the objects and frames. */
static void damage(void)
{
    for (long n = 1 + random() % MOST_DAMAGE; n > 0;) {
        bool published = random() % 8 == 0;
        uint64_t *words = published ? _PyRuntime : (uint64_t *)memory;
        uint64_t *word = words + random_word() % (published ? WORDS : USED / sizeof *words);
        if (!*word) continue;
        *word = wrong_word();
        n--;
    }
}

static unsigned look(bool saying)
{
    struct python_frame frames[ROOM];
    char file[ROOM], function[ROOM];
    uint32_t line = 0;
    unsigned n = python_frames(frames, ROOM);
    for (unsigned i = 0; i < n; i++) {
        python_code_mark(&frames[i]);
        bool good = python_describe(&frames[i], file, sizeof file, function, sizeof function, &line);
        if (saying && good) printf("%s %s %u\n", file, function, line);
    }
    return n;
}

int main(int n, char **words)
{
    struct python_layout layout;
    unsigned minor = n == 4 ? (unsigned)atoi(words[1]) : 0, died = 0, known = 0;
    if (minor == 13) memcpy(_PyRuntime, "xdebugpy", 8);
    if (!python_layout_find(&layout, minor, _PyRuntime)) return 2;
    memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory + PAGE, PAGE, PROT_NONE);
    memory += PAGE - USED;
    version = words[2];
    put(PyCode_Type, layout.object.type, PyType_Type);
    put(PyCode_Type, layout.type_flags, (void *)READY);
    build(&layout);
    for (int i = 0; i < atoi(words[3]); i++) {
        int status;
        pid_t child = fork();
        if (!child) {
            srandom((unsigned)i);
            damage();
            _exit(look(false) > 0);
        }
        waitpid(child, &status, 0);
        died += !WIFEXITED(status);
        known += WIFEXITED(status) && WEXITSTATUS(status);
    }
    printf("%u frames\n", look(true));
    printf("%u died, %u known\n", died, known);
    return 0;
}
