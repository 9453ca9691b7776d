#include "common/settings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/time_text.h"
#include "common/user_message.h"
#include "variables.h"

extern char **environ;

static const char *const names[] = {VARIABLE_NAMES};
enum { NAMES = sizeof names / sizeof names[0], LONGEST_NAME = 64 };

static struct {
    bool known, speaks;
    char lines[4096]; /* said once it is known who speaks */
} troubles;

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
        setting_trouble("%s=%s is not a size from %s to %s; using %s", name, text, low, high, used);
    else
        setting_trouble("%s=%s is not a size from %s to %s; there is no limit", name, text, low, high);
    return otherwise;
}

int64_t setting_time_ns(const char *name)
{
    const char *text = setting_text(name);
    if (!text) return 0;
    double ns;
    if (time_text_ns(text, strlen(text), UNIT_ALL, &ns) && ns > 0 && ns < 9e18) return (int64_t)ns;
    setting_trouble("%s=%s is not a time such as 100us, 5ms, 10s or 2m; it is ignored", name, text);
    return 0;
}

void setting_trouble(const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    size_t used = strlen(troubles.lines);
    if (troubles.speaks)
        say("%s", line);
    else if (!troubles.known)
        snprintf(troubles.lines + used, sizeof troubles.lines - used, "%s\n", line);
}

/* Letters to change, add or take away to make `b` of `a` (Levenshtein). */
static size_t distance(const char *a, size_t length, const char *b)
{
    size_t row[LONGEST_NAME + 1], other = strlen(b);
    for (size_t k = 0; k <= other; k++) row[k] = k;
    for (size_t i = 1; i <= length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t k = 1; k <= other; k++) {
            size_t change = diagonal + (a[i - 1] != b[k - 1]);
            diagonal = row[k];
            row[k] = 1 + (row[k] < row[k - 1] ? row[k] : row[k - 1]);
            if (change < row[k]) row[k] = change;
        }
    }
    return row[other];
}

/* The variable that may have been meant: three letters away at most. */
static const char *nearest_variable(const char *name, size_t length)
{
    size_t least = 4;
    const char *found = NULL;
    for (size_t i = 0; i < NAMES; i++) {
        size_t away = distance(name, length, names[i]);
        if (away == 0) return names[i];
        if (away < least) {
            least = away;
            found = names[i];
        }
    }
    return found;
}

static void tell_unknown(const char *variable)
{
    size_t length = strcspn(variable, "=");
    if (strncmp(variable, "TRACELIB_", 9) != 0) return;
    const char *meant = nearest_variable(variable, length);
    if (meant && strlen(meant) == length && strncmp(meant, variable, length) == 0) return;
    say("%.*s is not a setting%s%s", (int)length, variable, meant ? "; is it meant for " : ": it does nothing",
        meant ? meant : "");
}

void settings_tell(bool speaks)
{
    if (speaks && !troubles.speaks) {
        for (char *rest, *line = strtok_r(troubles.lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            say("%s", line);
        for (char **v = environ; v && *v; v++) tell_unknown(*v);
    }
    troubles.known = true;
    troubles.speaks = speaks;
}
