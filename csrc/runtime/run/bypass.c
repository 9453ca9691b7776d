#include "run/internal/bypass.h"

#include <stddef.h>
#include <unistd.h>

#include "common/user_message.h"
#include "mpi/resolve.h"
#include "mpi/tools.h"
#include "record/phase.h"
#include "run/internal/prepare.h"

static pid_t loaded_into;

void bypass_begin(void)
{
    const char *ahead = tools_ahead(), *behind = tools_behind();
    loaded_into = getpid();
    if (ahead) debug("tool ahead: %s", ahead);
    if (behind) debug("tool behind: %s", behind);
}

/* Has MPI been initialized? It may be asked at any time. */
static bool is_initialized(void)
{
    int flag = 0;
    int (*initialized)(int *) = (int (*)(int *))resolve_symbol("PMPI_Initialized");
    return initialized && initialized(&flag) == 0 && flag;
}

void bypass_end(void)
{
    bool began = phase_reached() > PHASE_ALONE; /* to record MPI, or it was refused */
    if (began || run_is_disabled() || getpid() != loaded_into || !is_initialized()) return;
    const char *ahead = tools_ahead();
    debug("MPI was initialized past this library");
    if (!resolve_speaks()) return;
    if (!ahead)
        say("nothing is recorded: MPI was initialized, but not through this library (tracelib doctor tells more)");
    else if (!*ahead)
        say("nothing is recorded: the program defines MPI_Init itself (tracelib doctor tells more)");
    else
        say("nothing is recorded: %s gets the program's call of MPI_Init and does not pass it on to this library;"
            " put libtrace.so ahead of it in LD_PRELOAD, as tracelib run does",
            ahead);
}
