/* Values of environment variables. What cannot be understood is said in one line, and does not count.
 *
 * All ranks read the same, and before MPI_Init none knows which it is: troubles wait until then, and rank 0 says them.
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

/* The text of a variable; NULL where it is not set or empty. */
const char *setting_text(const char *name);

/* A size as 64K, 4M, 1G from `least` to `most` bytes. */
uint64_t setting_bytes(const char *name, uint64_t least, uint64_t most, uint64_t otherwise);

/* A time as 10s, 100us, 5ms, 2m (a number alone: seconds), in ns; 0 where there is none. */
int64_t setting_time_ns(const char *name);

/* One line on a setting that does not count. */
void setting_trouble(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* It is known now whether this process `speaks` for all: then what has waited is said, and which variables begin as
 * ours do and are none. */
void settings_tell(bool speaks);

#endif
