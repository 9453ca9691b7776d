#define _GNU_SOURCE
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "message.h"

static char prefix[ROOM_SPOOL];

const char *spool_prefix(void)
{
    return prefix;
}

static void spool_path(char path[PATH_MAX], uint32_t thread)
{
    snprintf(path, PATH_MAX, "%s.%u", prefix, thread);
}

/* A file of `bytes` whose blocks are allocated now: a full disk shows here and never as a signal. */
static void *map_file(const char *path, uint64_t bytes)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return MAP_FAILED;
    void *memory = MAP_FAILED;
    int error = posix_fallocate(fd, 0, (off_t)bytes);
    if (error)
        errno = error;
    else
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (memory == MAP_FAILED) {
        error = errno;
        unlink(path);
        errno = error;
    }
    close(fd);
    return memory;
}

/* The first thread decides on the directory; the others follow, so that one attribute names them all. */
static void *map_spool(uint32_t thread, uint64_t bytes)
{
    char path[PATH_MAX];
    if (prefix[0]) {
        spool_path(path, thread);
        return map_file(path, bytes);
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
        void *memory = map_file(path, bytes);
        if (memory != MAP_FAILED) return memory;
    }
    prefix[0] = '\0';
    return MAP_FAILED;
}

struct spool_header *spool_create(uint32_t thread, uint64_t bytes)
{
    void *memory = map_spool(thread, bytes);
    if (memory == MAP_FAILED) {
        static bool said;
        if (!said)
            say("no room for a spool in TRACELIB_SPOOL, /dev/shm or TMPDIR (%s): calls not yet flushed are lost if a "
                "rank is killed",
                strerror(errno));
        said = true;
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (memory == MAP_FAILED) {
            say("no memory for a buffer (%s): thread %u is not recorded", strerror(errno), thread);
            return NULL;
        }
    }
    struct spool_header *spool = memory;
    spool->thread = thread;
    memcpy(spool->magic, SPOOL_MAGIC, sizeof spool->magic);
    return spool;
}

void spool_remove(uint32_t thread)
{
    char path[PATH_MAX];
    if (!prefix[0]) return;
    spool_path(path, thread);
    unlink(path);
}

void spool_unmap(struct spool_header *spool, uint64_t bytes)
{
    munmap(spool, bytes);
}
