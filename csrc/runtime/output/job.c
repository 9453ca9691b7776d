#define _GNU_SOURCE
#include "output/job.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_READ = 1 << 20, MOST_ANCESTORS = 64 };

static const char *const ranks[] = {"PMI_RANK=", "PMIX_RANK="};

static size_t read_proc(int pid, const char *name, char *text)
{
    char path[64];
    size_t n = 0;
    ssize_t got = 1;
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && got > 0 && n < MOST_READ) {
        got = read(fd, text + n, MOST_READ - n);
        if (got > 0) n += (size_t)got;
    }
    if (fd >= 0) close(fd);
    text[n] = '\0';
    return n;
}

/* One of several strings, each with its NUL, that begins so; what follows the beginning. */
static const char *find_string(const char *text, size_t bytes, const char *begin)
{
    for (const char *s = text; s < text + bytes; s += strlen(s) + 1)
        if (strncmp(s, begin, strlen(begin)) == 0) return s + strlen(begin);
    return NULL;
}

/* The word behind this one of a command line. */
static const char *option(const char *command, size_t bytes, const char *name)
{
    const char *found = find_string(command, bytes, name);
    return found && !*found && found + 1 < command + bytes ? found + 1 : NULL;
}

static bool is_rank(int pid, char *scratch)
{
    size_t n = read_proc(pid, "environ", scratch);
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++)
        if (find_string(scratch, n, ranks[i])) return true;
    return false;
}

/* The state of a process behind its name: S 1 ...; the parent is the second field, the start the twentieth. */
static long stat_field(int pid, int field, char *scratch)
{
    read_proc(pid, "stat", scratch);
    char *at = strrchr(scratch, ')');
    for (int i = 0; at && i < field; i++) at = strchr(at + 1, ' ');
    return at ? atol(at + 1) : 0;
}

/* The nearest ancestor that is no rank itself: shells and tools between have our rank in their environment. */
static int launcher(char *scratch)
{
    int pid = getppid();
    for (int i = 0; i < MOST_ANCESTORS && pid > 1 && is_rank(pid, scratch); i++) pid = (int)stat_field(pid, 2, scratch);
    return pid;
}

static void name_launcher(char key[JOB_KEY_ROOM], char *scratch)
{
    char host[65] = "";
    int pid = launcher(scratch);
    size_t n = read_proc(pid, "cmdline", scratch);
    const char *port = option(scratch, n, "--control-port"), *group = option(scratch, n, "--pgid");
    const char *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");
    gethostname(host, sizeof host - 1);
    if (port)
        snprintf(key, JOB_KEY_ROOM, "hydra %.200s %.20s", port, group ? group : "");
    else if (job && step)
        snprintf(key, JOB_KEY_ROOM, "slurm %.100s.%.100s", job, step);
    else
        snprintf(key, JOB_KEY_ROOM, "process %s %d %ld", host, pid, stat_field(pid, 20, scratch));
}

bool job_key(char key[JOB_KEY_ROOM])
{
    const char *space = getenv("PMIX_NAMESPACE");
    if (space && space[0]) return snprintf(key, JOB_KEY_ROOM, "pmix %.240s", space) > 0;
    char *scratch = malloc(MOST_READ + 1);
    if (!scratch) return false;
    bool launched = is_rank(getpid(), scratch);
    if (launched) name_launcher(key, scratch);
    free(scratch);
    return launched;
}
