#define _GNU_SOURCE
#include "node/start_sampler.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/time_text.h"
#include "common/user_message.h"
#include "mpi/pmpi.h"
#include "node/internal/detach.h"
#include "schema.h"

#define MILLISECOND INT64_C(1000000)

extern char **environ;

/* The package may lie beside the library only, and an own h5py and psutil of that Python come first. */
static const char program[] = "import sys; sys.path.append(sys.argv.pop(1)); import tracelib.node_sampler; "
                              "tracelib.node_sampler.main()";

/* Not for the sampler: tracing, an MPI that an h5py built with MPI could start in it, threads of a BLAS, the home of
 * a Python that the program embeds. */
static const char *const withheld[] = {"LD_PRELOAD=",      "OMPI_",       "PMI", "PRTE_", "HYDI_",
                                       "OMP_NUM_THREADS=", "PYTHONHOME=", NULL};
static char one_thread[] = "OMP_NUM_THREADS=1";

static struct {
    bool started;
    char host[ROOM_HOST + 1], file[PATH_MAX], python[PATH_MAX];
} sampler;

/* Where a rank lives: equal `node` and `pids`, and each sees the other by its pid. */
struct place {
    uint64_t node, pids;
    int64_t pid;
};

/* Read TRACELIB_SYSTEM: "500ms", "1s", "1.5", in ns. 0: off, or no such period, which is said. */
static int64_t wanted_period_ns(void)
{
    const char *text = getenv("TRACELIB_SYSTEM");
    if (!text || !text[0] || strcmp(text, "0") == 0) return 0;
    size_t length = strlen(text);
    double ns;
    bool is_plain = *text >= '0' && *text <= '9' && strspn(text, "0123456789.ms") == length; /* no 1e3, no 0x10 */
    if (is_plain && time_text_ns(text, length, UNIT_NONE | UNIT_MS | UNIT_S, &ns) &&
        ns >= SYSTEM_LEAST_MS * (double)MILLISECOND && ns <= SYSTEM_MOST_MS * (double)MILLISECOND)
        return (int64_t)ns;
    say("TRACELIB_SYSTEM=%s is not a period from 10ms to 3600s, such as 500ms or 1s: the system is not sampled", text);
    return 0;
}

static uint64_t hash_text(uint64_t h, const char *text)
{
    for (; *text; text++) h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3); /* FNV-1a */
    return h;
}

static struct place describe_place(void)
{
    char boot[64] = "";
    struct stat pids = {.st_ino = 0};
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && read(fd, boot, sizeof boot - 1) < 0) boot[0] = '\0';
    if (fd >= 0) close(fd);
    stat("/proc/self/ns/pid", &pids);
    uint64_t node = hash_text(hash_text(UINT64_C(0xcbf29ce484222325), boot), sampler.host);
    return (struct place){node, pids.st_ino, getpid()};
}

/* The directory of the package, in which this library lies. */
static bool find_package(char path[PATH_MAX])
{
    Dl_info info;
    char *slash = NULL;
    if (dladdr((void *)sampler_start, &info) && realpath(info.dli_fname, path)) slash = strrchr(path, '/');
    if (slash) *slash = '\0';
    return slash != NULL;
}

/* PREFIX/bin/pythonX.Y of a package that is installed in PREFIX/lib/pythonX.Y/site-packages/tracelib. */
static bool find_owner(const char *package, char python[PATH_MAX])
{
    char *part[3] = {NULL}; /* from the last: site-packages, pythonX.Y, lib */
    char path[PATH_MAX];
    strcpy(path, package);
    char *slash = strrchr(path, '/');
    for (int i = 0; i < 3 && slash; i++) {
        *slash = '\0';
        if ((slash = strrchr(path, '/'))) part[i] = slash + 1;
    }
    if (!slash || strncmp(part[1], "python", 6) != 0) return false;
    *slash = '\0';
    return snprintf(python, PATH_MAX, "%s/bin/%s", path, part[1]) < PATH_MAX && access(python, X_OK) == 0;
}

static bool find_on_path(const char *name, char path[PATH_MAX])
{
    const char *from = getenv("PATH");
    while (from && *from) {
        int n = (int)strcspn(from, ":");
        if (n && snprintf(path, PATH_MAX, "%.*s/%s", n, from, name) < PATH_MAX && access(path, X_OK) == 0) return true;
        from += n + (from[n] == ':');
    }
    return false;
}

/* TRACELIB_PYTHON; else the Python that this package is installed for; else the first python3. */
static bool find_python(const char *package, char python[PATH_MAX])
{
    const char *wanted = getenv("TRACELIB_PYTHON");
    if (!wanted || !wanted[0]) return find_owner(package, python) || find_on_path("python3", python);
    if (!strchr(wanted, '/')) return find_on_path(wanted, python);
    char here[PATH_MAX] = "";
    if (wanted[0] != '/' && !getcwd(here, sizeof here)) return false;
    return snprintf(python, PATH_MAX, "%s%s%s", here, here[0] ? "/" : "", wanted) < PATH_MAX;
}

static bool is_withheld(const char *variable)
{
    for (int i = 0; withheld[i]; i++)
        if (strncmp(variable, withheld[i], strlen(withheld[i])) == 0) return true;
    return false;
}

static char **environment(void)
{
    size_t n = 0, kept = 0;
    while (environ && environ[n]) n++;
    char **out = calloc(n + 2, sizeof *out);
    if (!out) return NULL;
    out[kept++] = one_thread;
    for (size_t i = 0; i < n; i++)
        if (!is_withheld(environ[i])) out[kept++] = environ[i];
    return out;
}

/* PYTHON -c PROGRAM FOLDER-OF-PACKAGE FILE PERIOD PID... */
static int launch(char *package, int64_t period_ns, const struct place *places, int rank, int size)
{
    enum { FIXED = 6, DIGITS = 24 };
    char (*numbers)[DIGITS] = calloc((size_t)size + 1, sizeof *numbers);
    char **argv = calloc((size_t)size + FIXED + 1, sizeof *argv), **envp = environment();
    int error = numbers && argv && envp ? 0 : ENOMEM;
    if (!error) {
        *strrchr(package, '/') = '\0';
        char *const fixed[FIXED] = {sampler.python, "-c", (char *)program, package, sampler.file, numbers[0]};
        memcpy(argv, fixed, sizeof fixed);
        snprintf(numbers[0], DIGITS, "%" PRId64, period_ns);
        for (int i = rank, n = 0; i < size; i++) {
            if (places[i].node != places[rank].node || places[i].pids != places[rank].pids) continue;
            snprintf(numbers[n + 1], DIGITS, "%" PRId64, places[i].pid);
            argv[FIXED + n] = numbers[n + 1];
            n++;
        }
        error = detached_start(argv, envp);
    }
    free(envp);
    free(argv);
    free(numbers);
    return error;
}

static void start_here(const char *stem, int64_t period_ns, const struct place *places, int rank, int size)
{
    char package[PATH_MAX];
    if (!find_package(package) || !find_python(package, sampler.python)) {
        say("%s: the system is not sampled: there is no python3 on PATH; set TRACELIB_PYTHON", sampler.host);
        return;
    }
    int length = snprintf(sampler.file, PATH_MAX, "%s.ranks/system-%s.h5", stem, sampler.host);
    int error = length < PATH_MAX ? launch(package, period_ns, places, rank, size) : ENAMETOOLONG;
    if (error)
        say("%s: the system is not sampled: cannot start %s (%s); set TRACELIB_PYTHON", sampler.host, sampler.python,
            strerror(error));
    sampler.started = error == 0;
    debug("%s samples the system of %s into %s", sampler.python, sampler.host, sampler.file);
}

void sampler_start(const char *stem, int rank, int size)
{
    int64_t period_ns = rank == 0 ? wanted_period_ns() : 0;
    pmpi.Bcast(&period_ns, sizeof period_ns, abi.byte, 0, all_ranks);
    if (!period_ns) return;
    gethostname(sampler.host, ROOM_HOST);
    for (char *p = sampler.host; *p; p++)
        if (*p == '/') *p = '_';
    struct place mine = describe_place(), *places = calloc((size_t)size, sizeof *places);
    if (!places) abort(); /* the others would wait for us for ever */
    pmpi.Allgather(&mine, sizeof mine, abi.byte, places, sizeof mine, abi.byte, all_ranks);
    int first = 0;
    while (places[first].node != mine.node) first++;
    if (first == rank) start_here(stem, period_ns, places, rank, size);
    free(places);
}

void sampler_check(void)
{
    if (sampler.started && access(sampler.file, F_OK) != 0)
        say("%s: the system was not sampled: %s had not started when the run ended; it needs h5py and psutil "
            "(set TRACELIB_PYTHON to another Python)",
            sampler.host, sampler.python);
}
