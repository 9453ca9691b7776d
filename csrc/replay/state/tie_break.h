#ifndef TIE_BREAK_H
#define TIE_BREAK_H
/* Which of two events of the same phase and instant comes first. */

#include <stdbool.h>

#include "state/event.h"

bool event_tie(const struct event *a, const struct event *b);

#endif
