// A library in which looking into the folder of a run is slow: meanwhile its first rank says for which job it is, and
// has its file.

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Both ranks do: whoever sees the file sees all of it.
static void write_new(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX], own[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(own, sizeof own, "%s/of-%d", folder, (int)getpid());
    FILE *file = fopen(own, "w");
    if (!file) return;
    fputs(text, file);
    fclose(file);
    int late = link(own, path); // the other may have been first
    (void)late;
    unlink(own);
}

DIR *opendir(const char *path)
{
    DIR *(*look)(const char *) = (DIR * (*)(const char *)) dlsym(RTLD_NEXT, "opendir");
    const char *space = getenv("PMIX_NAMESPACE"), *ending = strrchr(path, '.');
    if (space && ending && strcmp(ending, ".ranks") == 0) {
        char job[512];
        snprintf(job, sizeof job, "pmix %s", space);
        write_new(path, "job", job);
        write_new(path, "000009.h5", "");
    }
    return look(path);
}
