/* From instructions to lines, as each CPython writes it down. */
#ifndef PYTHON_LINES_H
#define PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

/* The line of the instruction at an offset in bytes into code of 3.minor that begins at the line `first`, by that
 * code's table. Before the code (a negative offset) it is `first`. 0: the instruction has none. */
uint32_t python_line(unsigned minor, const uint8_t *table, size_t bytes, int32_t first, int64_t offset);

#endif
