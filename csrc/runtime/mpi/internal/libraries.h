/* The libraries that the dynamic linker has loaded, and what it wrote into them. Nothing here needs libc or an address
 * that the dynamic linker fills in: it may run while that happens. The list may only be walked while it cannot change:
 * before main, by code that the dynamic linker calls, or for the libraries that the program started with. */
#ifndef LIBRARIES_H
#define LIBRARIES_H

#include <link.h>
#include <stdbool.h>

#include "mpi/symbols.h"

/* All of them in the order in which they were loaded, the program first; NULL: this processor's way to find the list is
 * not known. */
const struct link_map *libraries_loaded(void);

/* This library among them; NULL as above. */
const struct link_map *libraries_own(void);

/* Note that the libraries of now are those that the program started with. */
void libraries_started(void);

/* The next of them; NULL: it was the last. */
const struct link_map *libraries_next(const struct link_map *library);

/* The one whose segments have this address; NULL: none has. */
const struct link_map *libraries_at(uintptr_t address);

/* Has it MPI's profiling interface? Or is it called libmpi*, as parts of an MPI are, without a procedure that begins
 * MPI? (mpiP, a tool, is called so, too.) */
bool libraries_is_mpi(const struct link_map *library);

/* A word that the dynamic linker fills in with the address of a symbol of this name. */
struct reference {
    const char *name;
    uintptr_t *place;
    bool weak;
};

/* Call `visit` for each reference of a library to a symbol that it does not define itself and whose name begins as
 * those of MPI's procedures. */
void libraries_references(const struct link_map *library, void (*visit)(const struct reference *, void *), void *data);

/* Write such a word, also where it has been made read-only. It stays as it is where that is not known. */
void libraries_refer(const struct link_map *library, const struct reference *reference, uintptr_t address);

/* Does a name begin as those of MPI's procedures: MPI_, mpi_? */
BEFORE_SANITIZERS static inline bool libraries_name_is_mpis(const char *name)
{
    bool upper = name[0] == 'M' && name[1] == 'P' && name[2] == 'I', lower = name[0] == 'm' && name[1] == 'p';
    return (upper || (lower && name[2] == 'i')) && name[3] == '_';
}

#endif
