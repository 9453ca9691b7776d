/* What the library says to the user: one line on stderr, each kind at most once. */
#ifndef USER_MESSAGE_H
#define USER_MESSAGE_H

#include <stdbool.h>

/* printf to stderr with "tracelib: " before it, in one write. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Does the user want to hear of trouble only (TRACELIB_QUIET)? */
bool message_quiet(void);

/* The same, only under TRACELIB_DEBUG=1 (used by `tracelib doctor`). */
void debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
