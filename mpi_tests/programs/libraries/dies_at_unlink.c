// A library to preload: the process is killed when it has removed the first file whose name holds "tracelib-", which is
// the buffer of a thread.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <string.h>

int unlink(const char *path)
{
    int (*real)(const char *) = dlsym(RTLD_NEXT, "unlink");
    int result = real(path);
    if (strstr(path, "tracelib-")) raise(SIGKILL);
    return result;
}
