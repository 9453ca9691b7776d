/* Calls of which only times and the communicator are stored. Contract: frame.h. */
#ifndef TIMED_H
#define TIMED_H

#include "calls/frame.h"

/* `comm`: the null communicator if the call has none. */
void record_timed(const struct frame *f, word comm);

/* As record_timed, of a call that some programs make in their innermost loops (MPI_Wtime, MPI_Comm_rank): equal calls
 * that follow each other share a row. The call's path is looked for only if a row begins; `frame` is the wrapper's
 * stack frame. */
void record_asked(const struct frame *f, word comm, const uint64_t *frame);

/* Store a test or probe that found nothing: such calls share a row, too. */
void record_poll(const struct frame *f);

#endif
