/* A program that loads Python late, where nobody else sees it, starts it twice, and asks for its frames all the time:
 *
 *     python_host LIBPYTHON CALLS_BEFORE
 *
 * writes how many frames it found: before Python was loaded (CALLS_BEFORE times, all in all), when it was loaded, and
 * for each start: when it had started (CALLS_BEFORE times), in a function called by another one, in a thread of
 * Python's, while Python ends (from a function that it calls at its very end), and afterwards; and CALLS_BEFORE times
 * when it has been unloaded. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "places/python.h"

enum { ROOM = 100, NO_ARGUMENTS = 4 };

struct method {
    const char *name;
    void *(*function)(void *self, void *arguments);
    int flags;
    const char *text;
};

static void *python;

static void *in_python(const char *name)
{
    void *found = dlsym(python, name);
    if (!found) exit(3);
    return found;
}

static void say_frames_of(int calls)
{
    struct python_frame frames[ROOM];
    unsigned found = 0;
    for (int i = 0; i < calls; i++) found += python_frames(frames, ROOM);
    printf("%u\n", found);
}

static void say_frames(void)
{
    say_frames_of(1);
}

static void *look(void *self, void *arguments)
{
    (void)self, (void)arguments;
    void *(*none)(const char *, ...);
    *(void **)&none = in_python("Py_BuildValue");
    say_frames();
    return none("");
}

static const char PROGRAM[] = "def f(): look()\n"
                              "def g(): f()\n"
                              "g()\n"
                              "import _thread\n"
                              "done = _thread.allocate_lock()\n"
                              "done.acquire()\n"
                              "def h(): look(); done.release()\n"
                              "_thread.start_new_thread(h, ())\n"
                              "done.acquire()\n";

static void run_python(int calls)
{
    static struct method method = {"look", look, NO_ARGUMENTS, NULL};
    void (*start)(int), *(*import)(const char *), *(*function)(struct method *, void *, void *);
    int (*set)(void *, const char *, void *), (*run)(const char *), (*at_exit)(void (*)(void)), (*end)(void);
    *(void **)&start = in_python("Py_InitializeEx");
    *(void **)&import = in_python("PyImport_AddModule");
    *(void **)&function = in_python("PyCFunction_NewEx");
    *(void **)&set = in_python("PyObject_SetAttrString");
    *(void **)&run = in_python("PyRun_SimpleString");
    *(void **)&at_exit = in_python("Py_AtExit");
    *(void **)&end = in_python("Py_FinalizeEx");
    start(0);
    say_frames_of(calls);
    if (set(import("__main__"), "look", function(&method, NULL, NULL)) || run(PROGRAM) || at_exit(say_frames)) exit(4);
    if (end()) exit(5);
    say_frames();
}

int main(int n, char **words)
{
    if (n != 3) return 2;
    int calls = atoi(words[2]);
    say_frames_of(calls);
    python = dlopen(words[1], RTLD_LAZY | RTLD_LOCAL);
    if (!python) return 2;
    python_look_again();
    say_frames();
    run_python(calls);
    run_python(calls);
    if (dlclose(python)) return 6;
    python_look_again();
    say_frames_of(calls);
    return 0;
}
