/* MPI_Pcontrol. */
#include "calls/pcontrol.h"

#include "calls/timed.h"
#include "select/on_off.h"

/* MPI 4.1, 15.2.4: 0 off, 1 on, 2 buffers are flushed; the rest is whatever the MPI makes of it. */
void record_pcontrol(const struct frame *f, int level)
{
    if (level == 1) switch_by_program(true, f->enter);
    record_timed(f, abi.comm_null);
    if (level == 0) {
        switch_by_program(false, f->exit);
        switch_settle(f->t, f->exit);
    }
    if (level == 2) thread_flush(f->t);
}
