/* Function by which a running C or C++ program asks a driver of tracelib (docs/drivers.md). `tracelib call` writes the
 * calls.
 *
 * The driver is a process of its own, which prints a line "name value" for each number. The numbers become parameters
 * of the innermost region. So does the time in seconds that the program waited for them: ask_DRIVER_MOMENT_s. An answer
 * takes some tenths of a second: do not ask inside a region that is measured. */
#ifndef TRACELIB_DRIVERS_H
#define TRACELIB_DRIVERS_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "tracelib.h"

/* The Python that has this package. The environment variable TRACELIB_PYTHON overrides it. `tracelib call` knows it. */
#ifndef TRACELIB_PYTHON
#define TRACELIB_PYTHON "python3"
#endif

/* Strict C does not declare popen, which is POSIX. */
#ifdef __cplusplus
extern "C" {
#endif
extern FILE *popen(const char *command, const char *mode);
extern int pclose(FILE *stream);
#ifdef __cplusplus
}
#endif

/* Ask a driver, and record its numbers as parameters of this thread's innermost region. Blocks until the driver ends.
 * `moment`: "begin" or "end". Names may hold letters, digits and underscores only: they become words of a shell
 * command. Does nothing where the library is not loaded, or the driver cannot be started. */
static inline void tracelib_driver(const char *driver, const char *moment, const char *experiment)
{
    char command[1024], line[512], name[256];
    const char *python = getenv("TRACELIB_PYTHON");
    if (!tracelib_library()) return;
    int length = snprintf(command, sizeof command, "LD_PRELOAD= exec '%s' -m tracelib drivers %s %s %s",
                          python && *python ? python : TRACELIB_PYTHON, driver, moment, experiment);
    if (length < 0 || (size_t)length >= sizeof command) return;
    fflush(NULL);
    struct timeval begin, end;
    gettimeofday(&begin, NULL);
    FILE *said = popen(command, "r");
    if (!said) return;
    while (fgets(line, sizeof line, said)) {
        double value;
        if (sscanf(line, "%255s %lf", name, &value) == 2) tracelib_region_parameter(name, value);
    }
    pclose(said);
    gettimeofday(&end, NULL);
    double waited_s = (double)(end.tv_sec - begin.tv_sec) + 1e-6 * (double)(end.tv_usec - begin.tv_usec);
    length = snprintf(name, sizeof name, "ask_%s_%s_s", driver, moment);
    if (length > 0 && (size_t)length < sizeof name) tracelib_region_parameter(name, waited_s > 0 ? waited_s : 0);
}

#endif
