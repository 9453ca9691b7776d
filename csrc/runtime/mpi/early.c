#include "mpi/early.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "mpi/symbols.h"

extern char **environ;
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

static bool constructed;

__attribute__((constructor)) static void construct(void)
{
    __atomic_store_n(&constructed, true, __ATOMIC_RELEASE);
}

/* The dynamic linker puts the address there. */
static const volatile void *const volatile own_address = &own_address;

/* Constructors of other libraries run before ours, but after the C library's: that has set `environ`. */
bool early_is_over(void)
{
    if (__atomic_load_n(&constructed, __ATOMIC_ACQUIRE)) return true;
    return own_address == &own_address && *(char **volatile *)&environ;
}

/* Linux, without libc. */
#if defined(__x86_64__)
static long call_system(long number, long a, long b, long c, long d)
{
    register long fourth __asm__("r10") = d;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static long call_system(long number, long a, long b, long c, long d)
{
    register long n __asm__("x8") = number, first __asm__("x0") = a, second __asm__("x1") = b;
    register long third __asm__("x2") = c, fourth __asm__("x3") = d;
    __asm__ volatile("svc 0" : "+r"(first) : "r"(n), "r"(second), "r"(third), "r"(fourth) : "memory");
    return first;
}
#else
static long call_system(long number, long a, long b, long c, long d)
{
    (void)number, (void)a, (void)b, (void)c, (void)d;
    return -1;
}
#endif

enum { MOST_AUXILIARY = 64, PAGE = 4096 };

/* Where the dynamic linker was loaded, as the kernel told it; 0: not known. A program started as an argument of the
 * dynamic linker has that in its own place. */
static uintptr_t dynamic_linker(void)
{
    ElfW(auxv_t) vector[MOST_AUXILIARY];
    uintptr_t interpreter = 0, headers = 0;
    long file = call_system(SYS_openat, AT_FDCWD, (long)"/proc/self/auxv", O_RDONLY | O_CLOEXEC, 0);
    if (file < 0) return 0;
    long bytes = call_system(SYS_read, file, (long)vector, sizeof vector, 0);
    call_system(SYS_close, file, 0, 0, 0);
    for (long i = 0; i < bytes / (long)sizeof vector[0]; i++) {
        if (vector[i].a_type == AT_BASE) interpreter = vector[i].a_un.a_val;
        if (vector[i].a_type == AT_PHDR) headers = vector[i].a_un.a_val;
    }
    return interpreter ? interpreter : headers & ~(uintptr_t)(PAGE - 1);
}

static const ElfW(Dyn) * dynamic_section(uintptr_t base)
{
    const ElfW(Ehdr) *header = (const void *)base;
    const ElfW(Phdr) *segment = (const void *)(base + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++)
        if (segment[i].p_type == PT_DYNAMIC) return (const void *)(base + segment[i].p_vaddr);
    return NULL;
}

/* The dynamic linker's list of what it has loaded, which it keeps for debuggers. */
static const struct link_map *loaded_libraries(void)
{
    struct symbols linker;
    uintptr_t base = dynamic_linker();
    const struct r_debug *debug = NULL;
    if (base && symbols_open(&linker, base, dynamic_section(base))) debug = symbols_find(&linker, "_r_debug");
    return debug ? debug->r_map : NULL;
}

void *early_find(const char *name)
{
    struct symbols library;
    void *found = NULL;
    for (const struct link_map *l = loaded_libraries(); l && !found; l = l->l_next)
        if (l->l_ld != _DYNAMIC && symbols_open(&library, l->l_addr, l->l_ld)) found = symbols_find(&library, name);
    return found;
}
