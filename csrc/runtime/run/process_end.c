/* The end of the process, twice: our destructor, and after those of all other libraries, which may still call MPI.
 *
 * exit calls what was registered in reverse order. Before the program begins the dynamic linker runs constructors, ours
 * among them, and only then is registered what will run all destructors: so what our constructor registers comes after
 * them. (A C library that runs destructors last calls it before ours; then that one is the last to write.) */
#include <stdbool.h>
#include <stddef.h>

#include "run/internal/bypass.h"
#include "run/run.h"

/* Function of libc, as the C++ ABI has it. Functions of no library (NULL) are not called when one is unloaded. */
int __cxa_atexit(void (*function)(void *), void *argument, void *library);

static bool registered;

static void leave_last(void *unused)
{
    (void)unused;
    run_leave(true);
}

__attribute__((constructor)) static void note_process_at_load(void)
{
    registered = __cxa_atexit(leave_last, NULL, NULL) == 0;
    bypass_begin();
}

__attribute__((destructor)) static void unloaded(void)
{
    run_leave(!registered);
    bypass_end();
}
