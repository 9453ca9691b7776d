// A library to preload: before and after each change of the files of a run in the folder SNAPSHOTS_OF, a copy of them
// in a new folder of SNAPSHOTS_IN, named after the time in ticks: what a SIGKILL at this moment would leave. Buffers
// that are mapped files change between two calls; so a copy before a change may differ from that after the one before
// it.

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <x86intrin.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread bool copying;

static bool is_of_run(const char *name)
{
    return !strncmp(name, "run", 3) || !strncmp(name, "tracelib-", 9);
}

static bool is_watched(const char *path)
{
    const char *folder = getenv("SNAPSHOTS_OF");
    char full[PATH_MAX], here[PATH_MAX] = "";
    if (copying || !folder || (path[0] != '/' && !getcwd(here, sizeof here))) return false;
    snprintf(full, sizeof full, "%s%s%s", here, here[0] ? "/" : "", path);
    size_t n = strlen(folder);
    return !strncmp(full, folder, n) && full[n] == '/' && is_of_run(full + n + 1);
}

static bool is_open_watched(int fd)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = copying ? -1 : readlink(link, path, sizeof path - 1);
    if (n < 0) return false;
    path[n] = '\0';
    return is_watched(path);
}

static void copy_file(const char *from, const char *to)
{
    static char bytes[1 << 16];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    struct stat status;
    if (in < 0 || out < 0 || fstat(in, &status) || ftruncate(out, status.st_size)) abort();
    for (off_t at = 0, end; (at = lseek(in, at, SEEK_DATA)) >= 0; at = end) {
        end = lseek(in, at, SEEK_HOLE);
        for (off_t next = at; next < end;) {
            ssize_t n = pread(in, bytes, end - next < (off_t)sizeof bytes ? (size_t)(end - next) : sizeof bytes, next);
            if (n <= 0 || pwrite(out, bytes, (size_t)n, next) != n) abort();
            next += n;
        }
    }
    close(in);
    close(out);
}

static bool is_progress(const char *name)
{
    return !strncmp(name, "progress-", 9);
}
static bool is_inside(const char *name)
{
    return name[0] != '.';
}

// The files get `prefix` before their names, those of folders within do not.
static void copy_folder(const char *from, const char *to, const char *prefix, bool (*is_wanted)(const char *name))
{
    DIR *folder = opendir(from);
    mkdir(to, 0700);
    for (struct dirent *e; folder && (e = readdir(folder));) {
        char source[PATH_MAX], target[PATH_MAX];
        if (!is_wanted(e->d_name)) continue;
        snprintf(source, sizeof source, "%s/%s", from, e->d_name);
        snprintf(target, sizeof target, "%s/%s%s", to, prefix, e->d_name);
        if (e->d_type == DT_DIR)
            copy_folder(source, target, "", is_inside);
        else
            copy_file(source, target);
    }
    if (folder) closedir(folder);
}

static void take(const char *what)
{
    char target[PATH_MAX];
    snprintf(target, sizeof target, "%s/%020llu-%d-%s", getenv("SNAPSHOTS_IN"), (unsigned long long)__rdtsc(),
             (int)getpid(), what);
    // Other threads and ranks go on meanwhile: what they had done before and after bounds what the files hold.
    copy_folder(getenv("SNAPSHOTS_OF"), target, "", is_progress);
    copy_folder(getenv("SNAPSHOTS_OF"), target, "", is_of_run);
    copy_folder(getenv("SNAPSHOTS_OF"), target, "later-", is_progress);
}

// One process at a time: no other changes the files meanwhile.
static int begin(const char *what)
{
    int before = errno;
    pthread_mutex_lock(&lock);
    copying = true;
    int fd = open(getenv("SNAPSHOTS_IN"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    flock(fd, LOCK_EX);
    take(what);
    errno = before;
    return fd;
}

static void end(int fd, const char *what)
{
    int after = errno;
    take(what);
    close(fd);
    copying = false;
    pthread_mutex_unlock(&lock);
    errno = after;
}

#define REAL(NAME) ((__typeof__(&NAME))dlsym(RTLD_NEXT, #NAME))
#define WATCHED(TYPE, NAME, PARAMETERS, ARGUMENTS, IS_WATCHED)                                                         \
    TYPE NAME PARAMETERS                                                                                               \
    {                                                                                                                  \
        __typeof__(&NAME) real = REAL(NAME);                                                                           \
        if (!(IS_WATCHED)) return real ARGUMENTS;                                                                      \
        int fd_of_lock = begin("before-" #NAME);                                                                       \
        TYPE result = real ARGUMENTS;                                                                                  \
        end(fd_of_lock, "after-" #NAME);                                                                               \
        return result;                                                                                                 \
    }

WATCHED(ssize_t, pwrite, (int fd, const void *b, size_t n, off_t at), (fd, b, n, at), is_open_watched(fd))
WATCHED(ssize_t, pwrite64, (int fd, const void *b, size_t n, off_t at), (fd, b, n, at), is_open_watched(fd))
WATCHED(ssize_t, write, (int fd, const void *b, size_t n), (fd, b, n), is_open_watched(fd))
WATCHED(int, ftruncate, (int fd, off_t n), (fd, n), is_open_watched(fd))
WATCHED(int, ftruncate64, (int fd, off_t n), (fd, n), is_open_watched(fd))
WATCHED(int, fallocate, (int fd, int mode, off_t at, off_t n), (fd, mode, at, n), is_open_watched(fd))
WATCHED(int, fallocate64, (int fd, int mode, off_t at, off_t n), (fd, mode, at, n), is_open_watched(fd))
WATCHED(int, posix_fallocate, (int fd, off_t at, off_t n), (fd, at, n), is_open_watched(fd))
WATCHED(int, rename, (const char *from, const char *to), (from, to), is_watched(from) || is_watched(to))
WATCHED(int, unlink, (const char *path), (path), is_watched(path))
WATCHED(int, rmdir, (const char *path), (path), is_watched(path))
WATCHED(int, linkat, (int f, const char *from, int t, const char *to, int flags), (f, from, t, to, flags),
        is_watched(to))
WATCHED(int, mkdir, (const char *path, mode_t mode), (path, mode), is_watched(path))

static mode_t mode_of(int flags, va_list more)
{
    return flags & O_CREAT ? va_arg(more, mode_t) : 0;
}

#define OPEN(NAME)                                                                                                     \
    int NAME(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        mode_t mode = mode_of(flags, more);                                                                            \
        va_end(more);                                                                                                  \
        if (!(flags & (O_CREAT | O_TRUNC)) || !is_watched(path)) return REAL(NAME)(path, flags, mode);                 \
        int fd_of_lock = begin("before-" #NAME), result = REAL(NAME)(path, flags, mode);                               \
        end(fd_of_lock, "after-" #NAME);                                                                               \
        return result;                                                                                                 \
    }
OPEN(open)
OPEN(open64)
