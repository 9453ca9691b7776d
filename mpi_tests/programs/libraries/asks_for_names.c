/* Says which procedures of MPI are there, as programs ask: by weak references (of the program, of a library that it is
 * linked with, of one that it opens), by dlsym with RTLD_DEFAULT and on a handle. names.h has X(name) for each name.
 * -DLIBRARY makes the library. Started with the library to open and maybe an MPI library to open before it, as "global"
 * or "local"; -DMPI: a program that is linked with MPI and initializes it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define X(name) extern char name __attribute__((weak));
#include "names.h"
#undef X

#define X(name) {#name, &name},
static struct {
    const char *name;
    void *address;
} names[] = {
#include "names.h"
};

enum { NAMES = sizeof names / sizeof names[0] };

/* A line for each name that is there. */
#ifdef LIBRARY
void ask(const char *when)
#else
static void ask_here(const char *when)
#endif
{
    for (int i = 0; i < NAMES; i++) {
        dlerror();
        int by_default = dlsym(RTLD_DEFAULT, names[i].name) != NULL, failed = dlerror() != NULL;
        if (by_default == failed) printf("%s: %s has an address and an error\n", when, names[i].name);
        if (names[i].address) printf("%s: %s by reference\n", when, names[i].name);
        if (by_default) printf("%s: %s by dlsym\n", when, names[i].name);
    }
}

#ifndef LIBRARY
void ask(const char *);

static void ask_handle(const char *when, void *handle)
{
    for (int i = 0; handle && i < NAMES; i++)
        if (dlsym(handle, names[i].name)) printf("%s: %s on a handle\n", when, names[i].name);
}

static void *opened(const char *path, int flags)
{
    void *handle = dlopen(path, flags);
    if (!handle) printf("%s\n", dlerror());
    return handle;
}

int main(int argc, char **argv)
{
    ask_here("program");
    ask("library");
    if (argc > 3)
        ask_handle("libmpi", opened(argv[2], RTLD_LAZY | (strcmp(argv[3], "local") ? RTLD_GLOBAL : RTLD_LOCAL)));
    void *plugin = opened(argv[1], RTLD_NOW);
    if (plugin) ((void (*)(const char *))dlsym(plugin, "ask"))("plugin");
    ask_handle("plugin's", plugin);
    ask_handle("program's", dlopen(NULL, RTLD_NOW));
#ifdef MPI
    ((int (*)(int *, char ***))&MPI_Init)(NULL, NULL);
    ask_here("initialized program");
    ask("initialized library");
    ask_handle("initialized", dlopen(NULL, RTLD_NOW));
    ((int (*)(void))&MPI_Finalize)();
#endif
    return 0;
}
#endif
