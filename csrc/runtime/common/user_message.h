/* Messages of the library to the user: one line on stderr, each kind at most once. */
#ifndef USER_MESSAGE_H
#define USER_MESSAGE_H

#include <stdbool.h>

/* Print a line to stderr with "tracelib: " before it, in one write; longer than 2 KiB it is cut. A failing write is
 * ignored, and raises no signal.
 * Context: any thread, no lock; not in a signal handler (vsnprintf). */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* True if the user wants to hear of trouble only (TRACELIB_QUIET).
 * Context: any thread, no lock. */
bool message_quiet(void);

/* Print a line as `say` does, only under TRACELIB_DEBUG=1 (used by `tracelib doctor`).
 * Context: as `say`. */
void debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
