/* The slow path behind the generated table of real functions; included once, by wrappers.c. */
#ifndef RESOLVE_SLOT_H
#define RESOLVE_SLOT_H

#include "common/user_message.h"
#include "mpi/early.h"
#include "mpi/resolve.h"
#include "mpi/tools.h"
#include "run/run.h"

/* MPI_ERR_OTHER has different values; any non-zero one tells the program that the call failed. */
static word missing_function(void)
{
    return 16;
}

/* Before the dynamic linker and libc are ready: nothing is kept of it. */
static function resolve_early(const struct real_function *r)
{
    function found = NULL;
    for (int i = 0; i < 3 && r->names[i][0] && !found; i++) found = (function)early_find(r->names[i]);
    return found ? found : (function)missing_function;
}

/* Comes before the first call of each procedure, so nothing of MPI is recorded before its library is known. */
function wrapper_resolve(int slot)
{
    const struct real_function *r = &real_function_names[slot];
    if (!early_is_over()) return resolve_early(r);
    run_meet_mpi();
    function found = slot == SLOT_own_MPI_Send ? NULL : (function)tools_next(r->names[0] + 1);
    for (int i = 0; i < 3 && r->names[i][0] && !found; i++) found = (function)resolve_symbol(r->names[i]);
    if (!found) found = (function)resolve_symbol(r->names[0] + 1); /* a library without a profiling interface */
    if (!found) found = r->fallback;
    if (!found) found = missing_stand_in(r->names[0]);
    if (!found) {
        say("the program calls %s, which its MPI library does not have", r->names[0] + 1);
        found = (function)missing_function;
    }
    __atomic_store_n(&real_functions[slot], found, __ATOMIC_RELAXED);
    return found;
}

#endif
