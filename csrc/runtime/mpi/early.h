/* Calls that come before anything works.
 *
 * While the dynamic linker still fills in addresses it runs resolvers of indirect functions (IFUNC), and before the C
 * library has started it runs a program's DT_PREINIT_ARRAY and the la_preinit of LD_AUDIT. What they call reaches our
 * wrappers, which may not use libc then, nor a thread's memory. Such a call is passed on to MPI and counted as lost. */
#ifndef EARLY_H
#define EARLY_H

#include <stdbool.h>

/* May the library be used by now? Until it may, nothing but this file and elf.c is run. Once true it stays so. */
bool early_is_over(void);

/* The function of any loaded library but this one; NULL if there is none, or if this processor's way to find it is not
 * known. */
void *early_find(const char *name);

#endif
