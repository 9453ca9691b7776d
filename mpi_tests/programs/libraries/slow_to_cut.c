// A library to preload: between asking how long a file is and cutting it off at this length, much time passes.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

int ftruncate(int fd, off_t length)
{
    int (*real)(int, off_t) = dlsym(RTLD_NEXT, "ftruncate");
    struct stat file;
    if (fstat(fd, &file) == 0 && file.st_size == length) usleep(100000);
    return real(fd, length);
}
