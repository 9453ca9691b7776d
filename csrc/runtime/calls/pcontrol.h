/* MPI_Pcontrol. Contract: frame.h. */
#ifndef PCONTROL_H
#define PCONTROL_H

#include "calls/frame.h"

/* Turn tracing off (0), on (1), or flush this thread's buffer (2); other levels are stored only. */
void record_pcontrol(const struct frame *f, int level);

#endif
