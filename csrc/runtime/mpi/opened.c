/* Procedures of MPI that a program takes from an opened library (dlopen, dlsym), as interpreters do: it gets ours.
 *
 * We define dlsym and dlopen for that. Both depend on who calls them (RTLD_NEXT; the caller's DT_RUNPATH), so a call is
 * passed on by a jump: the C library sees the caller, as without us. Only a name of MPI asked of a handle is looked at;
 * if what is found there is the procedure that our wrapper would call, the program gets the wrapper. A tool that takes
 * MPI's procedures so gets what it asks for: it chooses itself whom it calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#include "mpi/bound.h"
#include "mpi/early.h"
#include "mpi/internal/libraries.h"
#include "mpi/names.h"
#include "mpi/resolve.h"
#include "mpi/tools.h"

/* Put ahead of `name`: call opened_NAME(arguments, caller), return what it returns, or if that is 0 go on in
 * next_NAME with the arguments and the caller of the beginning. */
#if defined(__x86_64__)
#define PUT_AHEAD(name)                                                                                                \
    __asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"                            \
            ".cfi_startproc\n\tendbr64\n"                                                                              \
            "\tpush %rdi\n\t.cfi_adjust_cfa_offset 8\n\tpush %rsi\n\t.cfi_adjust_cfa_offset 8\n"                       \
            "\tmov 16(%rsp), %rdx\n\tsub $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n"                                       \
            "\tcall opened_" #name "\n"                                                                                \
            "\tadd $8, %rsp\n\t.cfi_adjust_cfa_offset -8\n"                                                            \
            "\tpop %rsi\n\t.cfi_adjust_cfa_offset -8\n\tpop %rdi\n\t.cfi_adjust_cfa_offset -8\n"                       \
            "\ttest %rax, %rax\n\tjnz 1f\n\tjmp *next_" #name "(%rip)\n1:\tret\n"                                      \
            "\t.cfi_endproc\n.size " #name ", .-" #name "\n")
#elif defined(__aarch64__)
#define PUT_AHEAD(name)                                                                                                \
    __asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", %function\n" #name ":\n"                            \
            ".cfi_startproc\n\thint #34\n"                                                                             \
            "\tstp x29, x30, [sp, #-32]!\n\t.cfi_def_cfa_offset 32\n"                                                  \
            "\t.cfi_offset 29, -32\n\t.cfi_offset 30, -24\n"                                                           \
            "\tmov x29, sp\n\tstp x0, x1, [sp, #16]\n\tmov x2, x30\n\tbl opened_" #name "\n\tcbnz x0, 1f\n"            \
            "\tldp x0, x1, [sp, #16]\n\tadrp x17, next_" #name "\n\tldr x17, [x17, :lo12:next_" #name "]\n"            \
            "\tldp x29, x30, [sp], #32\n\tbr x17\n"                                                                    \
            "1:\tldp x29, x30, [sp], #32\n\tret\n"                                                                     \
            "\t.cfi_endproc\n.size " #name ", .-" #name "\n")
#else
#define PUT_AHEAD(name) struct name##_is_not_put_ahead
#endif

#define FOR_ASSEMBLY __attribute__((used, visibility("hidden")))

FOR_ASSEMBLY void *(*next_dlsym)(void *, const char *);
FOR_ASSEMBLY void *(*next_dlopen)(const char *, int);

PUT_AHEAD(dlsym);
PUT_AHEAD(dlopen);

/* Return the function that would have been called without us. Calls may come before anything of ours has run. */
BEFORE_SANITIZERS static void *next_definition(const char *name)
{
    struct symbols s;
    const struct link_map *own = libraries_own(), *l = own ? own->l_next : libraries_loaded();
    for (; l; l = l->l_next)
        if (symbols_open(&s, l->l_addr, l->l_ld) && symbols_find(&s, name)) return symbols_find(&s, name);
    return NULL;
}

/* A library that defines procedures of MPI itself. */
static bool is_tool(void *address)
{
    Dl_info info;
    struct link_map *library = NULL;
    return dladdr1(address, &info, (void **)&library, RTLD_DL_LINKMAP) && library && tools_is_one(library);
}

static void *replaced(void *handle, const char *name, void *caller)
{
    void *ours = early_is_over() ? names_find(name) : NULL;
    if (!ours || tools_next(name) || is_tool(caller)) return NULL;
    void *found = next_dlsym(handle, name);
    return found && found == resolve_symbol(name) ? ours : NULL;
}

BEFORE_SANITIZERS FOR_ASSEMBLY void *opened_dlsym(void *handle, const char *name, void *caller)
{
    if (!next_dlsym) next_dlsym = (void *(*)(void *, const char *))next_definition("dlsym");
    if (handle == RTLD_DEFAULT || handle == RTLD_NEXT || !name || !libraries_name_is_mpis(name)) return NULL;
    return replaced(handle, name, caller);
}

BEFORE_SANITIZERS FOR_ASSEMBLY void *opened_dlopen(const char *file, int flags, void *caller)
{
    (void)file, (void)caller;
    if (!next_dlopen) next_dlopen = (void *(*)(const char *, int))next_definition("dlopen");
    bound_opening(flags);
    return NULL;
}
