/* The file that lies at an address of this process, as the kernel names it: with its whole path. */
#ifndef MAPPED_FILE_H
#define MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Write its path into `path`, ended by 0. False: there is no file, the path has no room, or /proc cannot be read; then
 * `path` is unchanged. Uses no memory but the stack's; not for signal handlers. */
bool mapped_file(uint64_t address, char *path, size_t room);

#endif
