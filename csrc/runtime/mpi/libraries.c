#define _GNU_SOURCE
#include "mpi/internal/libraries.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

/* Linux, without libc. */
#if defined(__x86_64__)
BEFORE_SANITIZERS static long call_system(long number, long a, long b, long c, long d)
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
BEFORE_SANITIZERS static long call_system(long number, long a, long b, long c, long d)
{
    register long n __asm__("x8") = number, first __asm__("x0") = a, second __asm__("x1") = b;
    register long third __asm__("x2") = c, fourth __asm__("x3") = d;
    __asm__ volatile("svc 0" : "+r"(first) : "r"(n), "r"(second), "r"(third), "r"(fourth) : "memory");
    return first;
}
#else
BEFORE_SANITIZERS static long call_system(long number, long a, long b, long c, long d)
{
    (void)number, (void)a, (void)b, (void)c, (void)d;
    return -1;
}
#endif

enum { MOST_AUXILIARY = 64, PAGE = 4096 };

/* Values that the kernel told the process. */
static struct {
    uintptr_t linker; /* where the dynamic linker is; a program started as its argument has it in its own place */
    const ElfW(Phdr) * program;
    size_t program_headers, page;
} told;

/* The dynamic linker puts the address there. */
static const volatile void *const volatile own_address = &own_address;

/* For the time before the dynamic linker has bound us. */
BEFORE_SANITIZERS static void ask_kernel(void)
{
    ElfW(auxv_t) vector[MOST_AUXILIARY];
    long file = call_system(SYS_openat, AT_FDCWD, (long)"/proc/self/auxv", O_RDONLY | O_CLOEXEC, 0);
    if (file < 0) return;
    long bytes = call_system(SYS_read, file, (long)vector, sizeof vector, 0);
    call_system(SYS_close, file, 0, 0, 0);
    for (long i = 0; i < bytes / (long)sizeof vector[0]; i++) {
        uintptr_t value = vector[i].a_un.a_val;
        if (vector[i].a_type == AT_BASE) told.linker = value;
        if (vector[i].a_type == AT_PHDR) told.program = (const void *)value;
        if (vector[i].a_type == AT_PHNUM) told.program_headers = value;
        if (vector[i].a_type == AT_PAGESZ) told.page = value;
    }
}

/* libc has been bound before us. */
BEFORE_SANITIZERS static void ask_libc(void)
{
    told.linker = getauxval(AT_BASE);
    told.program = (const void *)getauxval(AT_PHDR);
    told.program_headers = getauxval(AT_PHNUM);
    told.page = getauxval(AT_PAGESZ);
}

BEFORE_SANITIZERS static void ask(void)
{
    if (own_address == &own_address)
        ask_libc();
    else
        ask_kernel();
    if (!told.linker) told.linker = (uintptr_t)told.program & ~(uintptr_t)(PAGE - 1);
}

BEFORE_SANITIZERS static const ElfW(Dyn) * dynamic_section(uintptr_t base)
{
    const ElfW(Ehdr) *header = (const void *)base;
    const ElfW(Phdr) *segment = (const void *)(base + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++)
        if (segment[i].p_type == PT_DYNAMIC) return (const void *)(base + segment[i].p_vaddr);
    return NULL;
}

/* The dynamic linker's list of what it has loaded, which it keeps for debuggers. */
BEFORE_SANITIZERS const struct link_map *libraries_loaded(void)
{
    static const struct r_debug *debug;
    struct symbols linker;
    if (debug) return debug->r_map;
    ask();
    uintptr_t base = told.linker;
    if (base && symbols_open(&linker, base, dynamic_section(base))) debug = symbols_find(&linker, "_r_debug");
    return debug ? debug->r_map : NULL;
}

BEFORE_SANITIZERS const struct link_map *libraries_own(void)
{
    const struct link_map *l = libraries_loaded();
    while (l && l->l_ld != _DYNAMIC) l = l->l_next;
    return l;
}

static const struct link_map *last_of_start;

BEFORE_SANITIZERS void libraries_started(void)
{
    for (const struct link_map *l = libraries_loaded(); l; l = l->l_next) last_of_start = l;
}

BEFORE_SANITIZERS const struct link_map *libraries_next(const struct link_map *library)
{
    return library == last_of_start ? NULL : library->l_next;
}

/* Is the path's last part libmpi*? */
BEFORE_SANITIZERS static bool is_called_mpi(const char *path)
{
    static const char start[] = "libmpi";
    const char *base = path;
    size_t same = 0;
    for (const char *c = path; *c; c++)
        if (*c == '/') base = c + 1;
    while (start[same] && base[same] == start[same]) same++;
    return !start[same];
}

BEFORE_SANITIZERS bool libraries_is_mpi(const struct link_map *library)
{
    static const char profiling[][16] = {"PMPI_Init", "pmpi_init_", "pmpi_init_f08_"},
                      plain[][16] = {"MPI_Init", "mpi_init_"};
    struct symbols s;
    if (!symbols_open(&s, library->l_addr, library->l_ld)) return false;
    for (int i = 0; i < 3; i++)
        if (symbols_index(&s, profiling[i])) return true;
    if (!is_called_mpi(library->l_name)) return false;
    return !symbols_index(&s, plain[0]) && !symbols_index(&s, plain[1]);
}

/* The program headers of a library; of one other than the program they are found by its ELF header, which is loaded
 * with it. */
BEFORE_SANITIZERS static size_t headers_of(const struct link_map *library, const ElfW(Phdr) * *headers)
{
    const ElfW(Ehdr) *header = (const void *)library->l_addr;
    *headers = told.program;
    if (library == libraries_loaded()) return told.program ? told.program_headers : 0;
    if (!header || header->e_ident[0] != ELFMAG0 || header->e_ident[1] != ELFMAG1) return 0;
    *headers = (const void *)(library->l_addr + header->e_phoff);
    return header->e_phnum;
}

BEFORE_SANITIZERS const struct link_map *libraries_at(uintptr_t address)
{
    for (const struct link_map *l = libraries_loaded(); l; l = l->l_next) {
        const ElfW(Phdr) * segment;
        size_t n = headers_of(l, &segment);
        for (size_t i = 0; i < n; i++)
            if (segment[i].p_type == PT_LOAD && address - l->l_addr - segment[i].p_vaddr < segment[i].p_memsz) return l;
    }
    return NULL;
}

/* Relocations that a dynamic section names: of data, and of the procedure linkage table. */
struct relocations {
    const ElfW(Rela) * first[2];
    size_t bytes[2];
};

BEFORE_SANITIZERS static struct relocations relocations_of(const struct link_map *library)
{
    struct relocations r = {{NULL, NULL}, {0, 0}};
    for (const ElfW(Dyn) *d = library->l_ld; d && d->d_tag != DT_NULL; d++) {
        uintptr_t value = d->d_un.d_ptr;
        const void *p = (const void *)(value < library->l_addr ? library->l_addr + value : value);
        if (d->d_tag == DT_RELA) r.first[0] = p;
        if (d->d_tag == DT_JMPREL) r.first[1] = p;
        if (d->d_tag == DT_RELASZ) r.bytes[0] = d->d_un.d_val;
        if (d->d_tag == DT_PLTRELSZ) r.bytes[1] = d->d_un.d_val;
    }
    return r;
}

/* Symbols that a library does not define come first in its table. */
BEFORE_SANITIZERS static bool refers_to_mpi(const struct symbols *s)
{
    uint32_t n = s->gnu_hash ? s->gnu_hash[1] : s->sysv_hash[1];
    for (uint32_t i = 1; i < n; i++)
        if (s->entries[i].st_shndx == SHN_UNDEF && libraries_name_is_mpis(s->texts + s->entries[i].st_name))
            return true;
    return false;
}

#if defined(__x86_64__)
enum { OF_DATA = R_X86_64_GLOB_DAT, OF_CALLS = R_X86_64_JUMP_SLOT, OF_TABLES = R_X86_64_64 };
#elif defined(__aarch64__)
enum { OF_DATA = R_AARCH64_GLOB_DAT, OF_CALLS = R_AARCH64_JUMP_SLOT, OF_TABLES = R_AARCH64_ABS64 };
#else
enum { OF_DATA = -1, OF_CALLS = -1, OF_TABLES = -1 };
#endif

BEFORE_SANITIZERS void libraries_references(const struct link_map *library,
                                            void (*visit)(const struct reference *, void *), void *data)
{
    struct symbols s;
    if (!symbols_open(&s, library->l_addr, library->l_ld) || !refers_to_mpi(&s)) return;
    struct relocations all = relocations_of(library);
    for (int which = 0; which < 2; which++)
        for (size_t i = 0; i < all.bytes[which] / sizeof(ElfW(Rela)); i++) {
            const ElfW(Rela) *r = all.first[which] + i;
            const ElfW(Sym) *symbol = s.entries + ELF64_R_SYM(r->r_info);
            int type = (int)ELF64_R_TYPE(r->r_info);
            const char *name = s.texts + symbol->st_name;
            if ((type != OF_DATA && type != OF_CALLS && type != OF_TABLES) || r->r_addend) continue;
            if (symbol->st_shndx != SHN_UNDEF || !libraries_name_is_mpis(name)) continue;
            bool weak = ELF64_ST_BIND(symbol->st_info) == STB_WEAK;
            visit(&(struct reference){name, (uintptr_t *)(library->l_addr + r->r_offset), weak}, data);
        }
}

/* Relocations that are done are made read-only (PT_GNU_RELRO), in whole pages. */
BEFORE_SANITIZERS static bool is_read_only(const struct link_map *library, uintptr_t at)
{
    const ElfW(Phdr) * segment;
    size_t n = headers_of(library, &segment);
    for (size_t i = 0; i < n; i++)
        if (segment[i].p_type == PT_GNU_RELRO && at - library->l_addr - segment[i].p_vaddr < segment[i].p_memsz)
            return true;
    return false;
}

BEFORE_SANITIZERS void libraries_refer(const struct link_map *library, const struct reference *reference,
                                       uintptr_t address)
{
    uintptr_t at = (uintptr_t)reference->place, size = told.page ? told.page : PAGE, page = at & ~(size - 1);
    const ElfW(Phdr) * known;
    if (!headers_of(library, &known)) return;
    bool locked = is_read_only(library, at);
    if (locked && call_system(SYS_mprotect, (long)page, (long)size, PROT_READ | PROT_WRITE, 0)) return;
    __atomic_store_n(reference->place, address, __ATOMIC_RELEASE);
    if (locked) call_system(SYS_mprotect, (long)page, (long)size, PROT_READ, 0);
}
