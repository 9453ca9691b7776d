#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/settings.h"
#include "sampling/sampling.h"

enum { MOST_PARENTS = 16 };

/* They start the program that is meant, or start what starts it. */
static const char *const starters[] = {"sh",     "bash",    "dash", "ash",    "zsh",     "ksh",     "csh",    "tcsh",
                                       "fish",   "busybox", "env",  "nice",   "time",    "timeout", "nohup",  "stdbuf",
                                       "setsid", "numactl", "chrt", "ionice", "taskset", "setarch", "prlimit"};
/* They start MPI's ranks, which are recorded by themselves. */
static const char *const launchers[] = {"mpirun",  "mpiexec", "mpiexec.hydra", "hydra_pmi_proxy",
                                        "orterun", "orted",   "prterun",       "prte",
                                        "prted",   "prun",    "srun"};

static bool is_among(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static bool is_starter(const char *name)
{
    return is_among(name, starters, sizeof starters / sizeof *starters);
}

/* The file that a process runs, without its folder; a name in comm would be a script's. */
static bool program_of(long process, char name[PATH_MAX])
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%ld/exe", process);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0) return false;
    path[n] = '\0';
    const char *slash = strrchr(path, '/');
    strcpy(name, slash ? slash + 1 : path);
    return true;
}

/* "pid (comm) state ppid ...", where comm may contain anything. */
static long parent_of(long process)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    if (n <= 0) return 0;
    text[n] = '\0';
    const char *end = strrchr(text, ')');
    return end && strlen(end) > 4 ? strtol(end + 4, NULL, 10) : 0;
}

bool sampling_is_asked_without_mpi(bool *directly)
{
    char name[PATH_MAX];
    const char *asked = setting_text("TRACELIB_ALONE");
    long wanted = asked ? strtol(asked, NULL, 10) : 0, process = getppid();
    if (wanted <= 0 || !program_of(getpid(), name)) return false;
    if (is_starter(name) || is_among(name, launchers, sizeof launchers / sizeof *launchers)) return false;
    *directly = process == wanted;
    for (int i = 0; i < MOST_PARENTS && process > 1 && process != wanted; i++) {
        if (!program_of(process, name) || !is_starter(name)) return false;
        process = parent_of(process);
    }
    return process == wanted;
}
