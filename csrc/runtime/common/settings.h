/* Values of environment variables. A value that cannot be understood is reported in one line and ignored.
 *
 * All ranks read the same variables, and no rank knows its number before MPI_Init. So reports wait until then
 * (settings_tell), and only rank 0 prints them. The list of waiting reports has no lock.
 *
 * Context: one thread at a time: while the run is prepared (run_prepare), or in MPI_Init, MPI_Session_init or the first
 * use of tracelib.h. setting_text may be called by any thread. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

/* Return the text of a variable, NULL if it is not set or empty. The text belongs to the environment. */
const char *setting_text(const char *name);

/* Read a size such as 64K, 4M or 1G, from `least` to `most` bytes. Returns bytes; `otherwise` (0: no limit) if the
 * variable is not set, or not such a size, which is reported. */
uint64_t setting_bytes(const char *name, uint64_t least, uint64_t most, uint64_t otherwise);

/* Read a time such as 10s, 100us, 5ms or 2m; a number alone is seconds. Returns ns; 0 if the variable is not set, or no
 * positive time, which is reported. */
int64_t setting_time_ns(const char *name);

/* Report one line (printf) about a setting that is ignored: at once, or when settings_tell says who speaks. */
void setting_trouble(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Say whether this process `speaks` for all ranks. If so, print the reports that wait, and a line for each variable
 * that begins with TRACELIB_ and is no setting. Otherwise later reports are dropped. */
void settings_tell(bool speaks);

#endif
