// Loaded before all else: the mutexes of libtrace.so do nothing, so that ThreadSanitizer has races to find in it.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static uintptr_t first, end; // of libtrace.so in memory

static int find_library(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    if (!strstr(info->dlpi_name, "/libtrace.so")) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD) continue;
        if (!first || from < first) first = from;
        if (from + p->p_memsz > end) end = from + p->p_memsz;
    }
    return 1;
}

__attribute__((constructor)) static void loaded(void)
{
    dl_iterate_phdr(find_library, NULL);
}

static int is_of_library(const pthread_mutex_t *mutex)
{
    return (uintptr_t)mutex >= first && (uintptr_t)mutex < end;
}

static int pass_on(const char *name, pthread_mutex_t *mutex)
{
    int (*real)(pthread_mutex_t *) = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, name);
    return real(mutex);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    return is_of_library(mutex) ? 0 : pass_on("pthread_mutex_lock", mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    return is_of_library(mutex) ? 0 : pass_on("pthread_mutex_unlock", mutex);
}
