#ifndef FIELDS_H
#define FIELDS_H
/* Readers of the fields of a line: numbers between colons, as in Paraver and Dimemas traces. `at` moves over the
   field; nothing is read from `end` on. */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Largest size of a message: 1 PiB, more than any memory holds. A larger number is damage. Sums of sizes up to this
   limit stay in 64 bits. */
#define MOST_BYTES (INT64_C(1) << 50)

/* Return true if `p` is before `end` and points to a decimal digit. */
static inline bool is_digit(const char *p, const char *end)
{
    return p < end && (unsigned)(*p - '0') < 10;
}

/* Read an integer, and the ':' behind it unless the line ends there. Returns false if there is no integer. An
   unsigned number of 64 bits wraps to a negative value. Leading zeros are skipped: some tools reserve 20 digits. */
static inline bool field_integer(const char **at, const char *end, int64_t *value)
{
    const char *p = *at;
    bool negative = p < end && *p == '-';
    p += negative;
    const char *first = p;
    while (p < end && *p == '0') p++;
    const char *digits = p;
    uint64_t v = 0;
    while (is_digit(p, end) && p - digits < 20) v = v * 10 + (unsigned)(*p++ - '0');
    bool wrapped = p - digits == 20 && (digits[0] != '1' || v < UINT64_C(10000000000000000000));
    bool sound = p != first && !wrapped && (p == end || *p == ':') && p + 1 != end;
    *at = p < end ? p + 1 : p;
    *value = (int64_t)(negative ? 0 - v : v);
    return sound;
}

/* Read seconds that are written otherwise than as digits and a point, such as 1e-3, as ns. Returns false if the text
   is no time. */
static inline bool odd_seconds(const char *at, const char *end, int64_t *ns)
{
    char text[64], *stop;
    size_t n = (size_t)(end - at);
    if (n == 0 || n >= sizeof text || !memchr("0123456789.+-", *at, 13)) return false;
    memcpy(text, at, n);
    text[n] = 0;
    double found = strtod(text, &stop) * 1e9;
    if (*stop || !(found > -0.5 && found < 9e18)) return false;
    *ns = llround(found);
    return true;
}

/* Read the seconds from `at` to `end` as whole ns, exactly; the tenth decimal rounds. Returns false if the text is
   no time. */
static inline bool field_seconds(const char *at, const char *end, int64_t *ns)
{
    const char *p = at;
    int64_t v = 0;
    int taken = 0, decimals = 0;
    for (; is_digit(p, end) && taken < 9; taken++) v = v * 10 + (*p++ - '0');
    if (!taken || p == end || *p++ != '.') return odd_seconds(at, end, ns);
    for (; is_digit(p, end) && decimals < 9; decimals++) v = v * 10 + (*p++ - '0');
    for (; decimals < 9; decimals++) v *= 10;
    if (is_digit(p, end)) v += *p++ >= '5';
    while (is_digit(p, end)) p++;
    *ns = v;
    return p == end || odd_seconds(at, end, ns);
}

/* Return the end of a line without the blanks and carriage returns behind it. */
static inline const char *trimmed_end(const char *line, const char *end)
{
    while (end > line && (end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t')) end--;
    return end;
}

#endif
