#ifndef TIE_BREAK_H
#define TIE_BREAK_H
/* Which of two events of the same phase and instant comes first. */

#include <stdbool.h>

#include "state/event.h"

/* Return true if the first of two events of one phase and instant comes first. The order depends on neither memory nor
   the time at which they were added. */
bool event_tie(const struct event *a, const struct event *b);

#endif
