/* What the library says to the user: one line on stderr, each kind at most once. */
#ifndef MESSAGE_H
#define MESSAGE_H

/* printf to stderr with "tracelib: " before it, in one write. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, only under TRACELIB_DEBUG=1 (used by `tracelib doctor`). */
void debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
