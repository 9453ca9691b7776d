/* Called by python_frames.py: notes the frames of its caller. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include "places/internal/python_lines.h"
#include "places/python.h"

enum { ROOM = 2000, UNTOUCHED = 77 };

struct place {
    char file[300], function[300];
    uint32_t line;
    const void *code, *instruction;
    uint64_t mark;
};
static __thread struct place places[ROOM];
static __thread bool unchanged;

static int holds_gil(void)
{
    int (*holds)(void);
    *(void **)&holds = dlsym(RTLD_DEFAULT, "PyGILState_Check");
    return holds ? holds() : -1;
}

unsigned look(int unused)
{
    (void)unused;
    struct python_frame frames[ROOM];
    int before = holds_gil();
    errno = UNTOUCHED;
    unsigned n = python_frames(frames, ROOM);
    for (unsigned i = 0; i < n; i++) {
        struct place *p = &places[i];
        p->code = frames[i].code;
        p->instruction = frames[i].instruction;
        p->mark = python_code_mark(&frames[i]);
        if (!python_describe(&frames[i], p->file, sizeof p->file, p->function, sizeof p->function, &p->line)) n = 0;
    }
    unchanged = errno == UNTOUCHED && before == holds_gil();
    return n;
}

const struct place *place(unsigned i)
{
    return &places[i];
}

bool is_unchanged(void)
{
    return unchanged;
}

/* All that is done at a call, n times; how many frames were found in all. */
unsigned look_often(unsigned n, bool describing)
{
    struct python_frame frames[ROOM];
    char text[ROOM];
    unsigned found = 0;
    uint32_t line;
    for (unsigned i = 0; i < n; i++) {
        unsigned depth = python_frames(frames, ROOM);
        for (unsigned j = 0; j < depth; j++) {
            found += python_code_mark(&frames[j]) != 0;
            if (describing) python_describe(&frames[j], text, sizeof text, text, sizeof text, &line);
        }
    }
    return found;
}

static void *look_elsewhere(void *n)
{
    *(unsigned *)n = look(0);
    return NULL;
}

/* The frames of a thread that Python does not know. */
unsigned look_in_other_thread(void)
{
    unsigned n = ROOM;
    pthread_t thread;
    if (pthread_create(&thread, NULL, look_elsewhere, &n) == 0) pthread_join(thread, NULL);
    return n;
}
