/* The one parser of times as people write them: "10s", "1.5ms". */
#ifndef TIME_TEXT_H
#define TIME_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Units that a text may have; or them together. */
enum time_units {
    UNIT_NONE = 1, /* a number alone: seconds */
    UNIT_NS = 2,
    UNIT_US = 4,
    UNIT_MS = 8,
    UNIT_S = 16,
    UNIT_M = 32, /* minutes */
    UNIT_MIN = 64,
    UNIT_H = 128,
    UNIT_ALL = 255,
};

/* Read a time from `length` bytes of a text that ends with a zero. The decimal point is a point in any locale.
 * Sets *ns, of any sign and size. Returns false if the text is no number with one of `units` behind it.
 * Context: any thread, no lock; not in a signal handler (strtod_l). */
bool time_text_ns(const char *text, size_t length, int units, double *ns);

#endif
