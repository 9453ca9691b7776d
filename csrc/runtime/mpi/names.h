/* Which of the library's procedures the dynamic linker finds: those that some MPI library of the process has.
 *
 * Programs ask whether MPI has a procedure, or whether there is an MPI, by looking for its name (a weak reference,
 * dlsym). A name that only we define would be a wrong answer. So the dynamic linker gets a copy of our table of symbols
 * in which what no MPI library has is hidden. Symbols whose value is 0 are passed over, and the search goes on.
 *
 * Libraries come later, too: the dynamic linker has to tell us in time, before it binds what refers to MPI. Every
 * library refers to __gmon_start__ (from the C library's crti.o, which calls it in the library's _init if somebody
 * defines it). We do, as an indirect function: the dynamic linker runs its resolver when it binds the first library of
 * those that it has just loaded, dependencies first. When __gmon_start__ itself is called, all of them are bound and
 * none is initialized (bound.c). */
#ifndef NAMES_H
#define NAMES_H

/* Our procedure of that name, if it is shown; NULL: it is hidden, or we have none. */
void *names_find(const char *name);

#endif
