#define _GNU_SOURCE
#include "record/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock/clock.h"
#include "common/user_message.h"

static char prefix[ROOM_SPOOL];
static bool shown;

/* A spool that has no name yet: a process that dies before its rank file leads to it leaves nothing behind. */
struct hidden {
    uint32_t thread;
    int fd;
    dev_t device; /* with inode: the program may have closed fd, and opened a file of its own under its number */
    ino_t inode;
    struct hidden *next;
};
static struct hidden *hidden;

const char *spool_prefix(void)
{
    return prefix;
}

static void spool_path(char path[PATH_MAX], uint32_t thread)
{
    snprintf(path, PATH_MAX, "%s.%u", prefix, thread);
}

static void name_descriptor(char path[64], int fd)
{
    snprintf(path, 64, "/proc/self/fd/%d", fd);
}

/* A file without a name in the directory of `path`, where such a file can be had and given a name later. Else -1. */
static int open_hidden(const char *path)
{
    char directory[PATH_MAX], descriptor[64];
    memcpy(directory, path, strlen(path) + 1);
    strrchr(directory, '/')[1] = '\0';
    int low = open(directory, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    int fd = low < 0 || low > 2 ? low : fcntl(low, F_DUPFD_CLOEXEC, 3);
    if (fd != low) close(low);
    name_descriptor(descriptor, fd);
    if (fd < 0 || access(descriptor, F_OK) == 0) return fd;
    close(fd);
    return -1;
}

static bool hide_spool(uint32_t thread, int fd)
{
    struct stat file;
    struct hidden *h = malloc(sizeof *h);
    if (!h || fstat(fd, &file)) {
        free(h);
        return false;
    }
    *h = (struct hidden){thread, fd, file.st_dev, file.st_ino, hidden};
    hidden = h;
    return true;
}

static int give_name(int fd, const char *path)
{
    char descriptor[64];
    name_descriptor(descriptor, fd);
    return linkat(AT_FDCWD, descriptor, AT_FDCWD, path, AT_SYMLINK_FOLLOW) ? errno : 0;
}

/* Close one of those hidden, and with a path give it this name before. 0 or errno. */
static int uncover(struct hidden **link, const char *path)
{
    struct hidden *h = *link;
    struct stat file;
    bool ours = fstat(h->fd, &file) == 0 && file.st_dev == h->device && file.st_ino == h->inode;
    int error = !path ? 0 : ours ? give_name(h->fd, path) : EBADF;
    if (ours) close(h->fd);
    *link = h->next;
    free(h);
    return error;
}

/* A file of `bytes` whose blocks are allocated now: a full disk shows here and never as a signal. */
static void *map_file(const char *path, uint32_t thread, uint64_t bytes)
{
    int fd = shown ? -1 : open_hidden(path);
    bool named = fd < 0;
    if (named) fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return MAP_FAILED;
    void *memory = MAP_FAILED;
    int error = posix_fallocate(fd, 0, (off_t)bytes);
    if (error)
        errno = error;
    else
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    error = errno;
    if (memory == MAP_FAILED && named) unlink(path);
    if (memory == MAP_FAILED || named || !hide_spool(thread, fd)) {
        if (memory != MAP_FAILED && !named) give_name(fd, path);
        close(fd);
    }
    errno = error;
    return memory;
}

/* The first thread decides on the directory; the others follow, so that one attribute names them all. */
static void *map_spool(uint32_t thread, uint64_t bytes)
{
    char path[PATH_MAX];
    if (prefix[0]) {
        spool_path(path, thread);
        return map_file(path, thread, bytes);
    }
    const char *wanted = getenv("TRACELIB_SPOOL"), *temporary = getenv("TMPDIR");
    const char *directories[] = {wanted && wanted[0] ? wanted : "/dev/shm",
                                 temporary && temporary[0] ? temporary : "/tmp"};
    for (int i = 0; i < 2; i++) {
        char here[PATH_MAX] = ""; /* who reads the spool later may do so from elsewhere */
        if (directories[i][0] != '/' && !getcwd(here, sizeof here)) continue;
        int n = snprintf(prefix, sizeof prefix, "%s%s%s/tracelib-%d-%llx", here, here[0] ? "/" : "", directories[i],
                         (int)getpid(), (unsigned long long)clock_ticks());
        if (n < 0 || n >= (int)sizeof prefix - 12) continue;
        spool_path(path, thread);
        void *memory = map_file(path, thread, bytes);
        if (memory != MAP_FAILED) return memory;
    }
    prefix[0] = '\0';
    return MAP_FAILED;
}

static void say_at_risk(const char *what, int error)
{
    static bool said;
    if (!said) say("%s (%s): calls not yet flushed are lost if a rank is killed", what, strerror(error));
    said = true;
}

/* Name the process that the file belongs to, for whoever finds it when the run is gone. */
static void name_process(struct spool_header *spool)
{
    struct stat namespace = {0};
    struct timespec now;
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, spool->boot_id, sizeof spool->boot_id - 1);
    if (fd >= 0) close(fd);
    if (n > 0 && spool->boot_id[n - 1] == '\n') spool->boot_id[n - 1] = '\0';
    stat("/proc/self/ns/pid", &namespace);
    spool->pid = (uint64_t)getpid();
    spool->pid_namespace = namespace.st_ino;
    clock_gettime(CLOCK_REALTIME, &now);
    spool->created_realtime_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

struct spool_header *spool_create(uint32_t thread, uint64_t bytes)
{
    void *memory = map_spool(thread, bytes);
    if (memory == MAP_FAILED) {
        say_at_risk("no room for a spool in TRACELIB_SPOOL, /dev/shm or TMPDIR", errno);
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (memory == MAP_FAILED) {
            say("no memory for a buffer (%s): thread %u is not recorded", strerror(errno), thread);
            return NULL;
        }
    }
    struct spool_header *spool = memory;
    spool->thread = thread;
    name_process(spool);
    memcpy(spool->magic, SPOOL_MAGIC, sizeof spool->magic);
    return spool;
}

void spool_show_all(void)
{
    char path[PATH_MAX];
    shown = true;
    while (hidden) {
        spool_path(path, hidden->thread);
        int error = uncover(&hidden, path);
        if (error) say_at_risk("a spool that cannot be given its name", error);
    }
}

void spool_remove(uint32_t thread)
{
    char path[PATH_MAX];
    for (struct hidden **link = &hidden; *link; link = &(*link)->next)
        if ((*link)->thread == thread) {
            uncover(link, NULL);
            return;
        }
    if (!prefix[0]) return;
    spool_path(path, thread);
    unlink(path);
}

void spool_unmap(struct spool_header *spool, uint64_t bytes)
{
    munmap(spool, bytes);
}
