// Preloaded, kills its process at the N-th thing that it does to files: die_at(N) starts the count, die_at(0) ends it.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>

static long left;

void die_at(long n)
{
    left = n;
}

// Defines a function that counts and passes on.
#define WRAP(type, function, parameters, arguments)                                                                    \
    type function parameters                                                                                           \
    {                                                                                                                  \
        static type(*real) parameters;                                                                                 \
        if (!real) real = (type(*) parameters)dlsym(RTLD_NEXT, #function);                                             \
        if (left > 0 && --left == 0) raise(SIGKILL);                                                                   \
        return real arguments;                                                                                         \
    }

WRAP(ssize_t, write, (int fd, const void *data, size_t n), (fd, data, n))
WRAP(ssize_t, pwrite, (int fd, const void *data, size_t n, off_t at), (fd, data, n, at))
WRAP(ssize_t, pwrite64, (int fd, const void *data, size_t n, off_t at), (fd, data, n, at))
WRAP(ssize_t, sendfile, (int to, int from, off_t *at, size_t n), (to, from, at, n))
WRAP(ssize_t, sendfile64, (int to, int from, off_t *at, size_t n), (to, from, at, n))
WRAP(int, ftruncate, (int fd, off_t n), (fd, n))
WRAP(int, ftruncate64, (int fd, off_t n), (fd, n))
WRAP(int, fsync, (int fd), (fd))
WRAP(int, rename, (const char *from, const char *to), (from, to))
WRAP(int, unlink, (const char *path), (path))
WRAP(int, close, (int fd), (fd))
