#include "common/user_message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/signals.h"

static void write_line(const char *prefix, const char *format, va_list arguments)
{
    char line[2048];
    int n = snprintf(line, sizeof line, "%s", prefix);
    int m = vsnprintf(line + n, sizeof line - (size_t)n - 1, format, arguments);
    size_t length = m < 0 ? (size_t)n : (size_t)(n + m) < sizeof line - 1 ? (size_t)(n + m) : sizeof line - 2;
    line[length++] = '\n';
    struct held_signals held;
    signals_hold(&held);
    if (write(STDERR_FILENO, line, length) < 0) length = 0; /* nobody to tell */
    signals_release(&held);
}

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line("tracelib: ", format, arguments);
    va_end(arguments);
}

bool message_quiet(void)
{
    const char *quiet = getenv("TRACELIB_QUIET");
    return quiet && quiet[0] && quiet[0] != '0';
}

void debug(const char *format, ...)
{
    const char *wanted = getenv("TRACELIB_DEBUG");
    if (!wanted || wanted[0] == '\0' || wanted[0] == '0') return;
    va_list arguments;
    va_start(arguments, format);
    write_line("tracelib: debug: ", format, arguments);
    va_end(arguments);
}
