#define _GNU_SOURCE
#include "common/time_text.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

bool time_text_ns(const char *text, size_t length, int units, double *ns)
{
    static const struct {
        const char *name;
        enum time_units unit;
        double ns;
    } known[] = {{"", UNIT_NONE, 1e9}, {"ns", UNIT_NS, 1},  {"us", UNIT_US, 1e3},    {"ms", UNIT_MS, 1e6},
                 {"s", UNIT_S, 1e9},   {"m", UNIT_M, 60e9}, {"min", UNIT_MIN, 60e9}, {"h", UNIT_H, 3600e9}};
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c) return false;
    char *unit;
    double value = strtod_l(text, &unit, c);
    freelocale(c);
    if (unit == text || unit > text + length) return false;
    size_t rest = (size_t)(text + length - unit);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (units & known[i].unit && rest == strlen(known[i].name) && strncmp(unit, known[i].name, rest) == 0) {
            *ns = value * known[i].ns;
            return true;
        }
    return false;
}
