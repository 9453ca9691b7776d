/* Sums over all threads of the process, what waits in their buffers included. */
#ifndef TOTALS_H
#define TOTALS_H

#include "record/threads.h"

struct totals threads_totals(void);

#endif
