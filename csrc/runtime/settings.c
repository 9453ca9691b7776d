#include "settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

const char *setting_text(const char *name)
{
    const char *text = getenv(name);
    return text && text[0] ? text : NULL;
}

/* As people write it: 1M, 64K. */
static void write_size(char text[32], uint64_t bytes)
{
    static const char unit[] = {' ', 'K', 'M', 'G', 'T'};
    int i = 0;
    for (; i < 4 && bytes >= 1024 && bytes % 1024 == 0; i++) bytes /= 1024;
    snprintf(text, 32, i ? "%" PRIu64 "%c" : "%" PRIu64, bytes, unit[i]);
}

uint64_t setting_bytes(const char *name, uint64_t least, uint64_t most, uint64_t otherwise)
{
    const char *text = setting_text(name), *units = "KMGT", *unit;
    if (!text) return otherwise;
    char *end;
    double value = strtod(text, &end);
    bool number = end != text;
    if (*end && (unit = strchr(units, *end & ~0x20))) {
        value *= (double)(UINT64_C(1) << (10 * (unit - units + 1)));
        end++;
    }
    if (number && *end == '\0' && value >= (double)least && value <= (double)most) return (uint64_t)value;
    char low[32], high[32], used[32];
    write_size(low, least);
    write_size(high, most);
    write_size(used, otherwise);
    if (otherwise)
        say("%s=%s is not a size from %s to %s; using %s", name, text, low, high, used);
    else
        say("%s=%s is not a size from %s to %s; there is no limit", name, text, low, high);
    return otherwise;
}

int64_t setting_time_ns(const char *name)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
    const char *text = setting_text(name);
    if (!text) return 0;
    char *end;
    double value = strtod(text, &end);
    for (size_t i = 0; end != text && i < sizeof units / sizeof units[0]; i++)
        if (strcmp(end, units[i].name) == 0 && value > 0 && value * units[i].ns < 9e18)
            return (int64_t)(value * units[i].ns);
    say("%s=%s is not a time such as 100us, 5ms, 10s or 2m; it does not count", name, text);
    return 0;
}
