#include "run/internal/pause.h"

#include "run/internal/prepare.h"
#include "select/on_off.h"

static void switch_now(bool on)
{
    if (!run_prepare()) return;
    uint64_t now = clock_ticks();
    switch_by_program(on, now);
    switch_settle_self(now);
}

void tracing_pause(void)
{
    switch_now(false);
}

void tracing_resume(void)
{
    switch_now(true);
}

/* For programs that declare them weak instead of including tracelib.h. */
__attribute__((visibility("default"), alias("tracing_pause"))) void tracelib_pause(void);
__attribute__((visibility("default"), alias("tracing_resume"))) void tracelib_resume(void);
