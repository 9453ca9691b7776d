#define _GNU_SOURCE
#include "mpi/resolve.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/symbols.h"

/* Function that is looked for in the loaded libraries, in the order in which they were loaded. */
struct search {
    const char *name;
    bool of_program; /* look into the program first */
    bool mpi_loaded; /* a library of MPI was met, by its name */
    bool mpi_met;    /* and it has MPI's functions */
    void *found;
    const char *library; /* that it was found in */
};

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden"))); /* of this very library */

static bool open_library(struct symbols *symbols, const struct dl_phdr_info *info)
{
    const ElfW(Dyn) *dynamic = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return dynamic && dynamic != _DYNAMIC && symbols_open(symbols, info->dlpi_addr, dynamic);
}

/* libmpi.so*, libmpich*.so*, libmpi_abi.so*, libmpi_mpifh.so* and the like. */
static bool is_mpi(const char *path)
{
    const char *base = strrchr(path, '/');
    return strncmp(base ? base + 1 : path, "libmpi", 6) == 0;
}

static int look_into(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct search *search = data;
    struct symbols symbols;
    bool mpi = is_mpi(info->dlpi_name);
    search->mpi_loaded |= mpi;
    if (!search->name || !(mpi || (search->of_program && !info->dlpi_name[0]))) return 0;
    if (!open_library(&symbols, info)) return 0;
    if (mpi && !search->mpi_met) search->mpi_met = symbols_find(&symbols, "PMPI_Init") != NULL;
    if (search->found) return search->mpi_met;
    search->found = symbols_find(&symbols, search->name);
    search->library = info->dlpi_name;
    return search->found && search->mpi_met;
}

/* The rank that a launcher has told this process; NULL: none has. */
static const char *launched_rank(void)
{
    static const char *const names[] = {"PMI_RANK",    "PMIX_RANK",          "OMPI_COMM_WORLD_RANK", "MPI_LOCALRANKID",
                                        "PALS_RANKID", "JSM_NAMESPACE_RANK", "MV2_COMM_WORLD_RANK"};
    const char *rank = NULL;
    for (size_t i = 0; !rank && i < sizeof names / sizeof names[0]; i++) rank = getenv(names[i]);
    return rank;
}

bool resolve_speaks(void)
{
    const char *rank = launched_rank();
    return !rank || strcmp(rank, "0") == 0;
}

bool resolve_mpi_expected(void)
{
    struct search search = {.name = NULL};
    dl_iterate_phdr(look_into, &search);
    return search.mpi_loaded || launched_rank();
}

/* The dynamic linker is asked only where no library is called as those of MPI are: symbols.h says why. */
static void *resolve(struct search *search, void *scope)
{
    dl_iterate_phdr(look_into, search);
    return search->found || search->mpi_met ? search->found : dlsym(scope, search->name);
}

void *resolve_symbol(const char *name)
{
    return resolve(&(struct search){.name = name}, RTLD_NEXT);
}

void *resolve_data(const char *name)
{
    return resolve(&(struct search){.name = name, .of_program = true}, RTLD_DEFAULT);
}

const char *resolve_library(const char *name)
{
    struct search search = {.name = name};
    Dl_info library = {.dli_fname = NULL};
    void *found = resolve(&search, RTLD_NEXT);
    if (search.found) return search.library;
    return found && dladdr(found, &library) ? library.dli_fname : NULL;
}
