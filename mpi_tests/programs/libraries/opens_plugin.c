/* Opens a plugin (plugin.c) with RTLD_DEEPBIND and has it send; "now" or "lazy" says how it is bound. "again": opens
 * it, closes it and opens it once more before that. "leave": goes to another folder after opening it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int flags = RTLD_DEEPBIND | (strcmp(argv[2], "now") ? RTLD_LAZY : RTLD_NOW);
    MPI_Init(&argc, &argv);
    if (argc > 3 && strcmp(argv[3], "again") == 0) dlclose(dlopen(argv[1], flags));
    void *plugin = dlopen(argv[1], flags);
    if (!plugin) return fprintf(stderr, "%s\n", dlerror()), 1;
    if (argc > 3 && strcmp(argv[3], "leave") == 0 && chdir("/")) return 1;
    ((void (*)(int))dlsym(plugin, "send_some"))(7);
    return MPI_Finalize();
}
