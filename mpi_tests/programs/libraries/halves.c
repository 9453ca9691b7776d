// Preloaded: a file system that takes half of what it is given at a time, as one over a network may.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

ssize_t write(int fd, const void *data, size_t n)
{
    ssize_t (*real)(int, const void *, size_t) = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    struct stat file;
    return real(fd, data, n > 1 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode) ? n / 2 : n);
}
