#include "places/internal/mapped_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_ROOM = PATH_MAX + 256 };

/* The path in a line of /proc/self/maps about this address; NULL: it is about others, or no file is there. */
static const char *path_in(const char *line, uint64_t address)
{
    uint64_t begin, end;
    int before_path = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", &begin, &end, &before_path) < 2) return NULL;
    if (address < begin || address >= end || !before_path || line[before_path] != '/') return NULL;
    return line + before_path;
}

bool mapped_file(uint64_t address, char *path, size_t room)
{
    char text[LINE_ROOM];
    size_t kept = 0;
    ssize_t more;
    bool found = false;
    int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    while (!found && (more = read(file, text + kept, sizeof text - 1 - kept)) > 0) {
        char *line = text, *end;
        text[kept += (size_t)more] = '\0';
        for (; !found && (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            const char *there = path_in(line, address);
            found = there && strlen(there) < room;
            if (found) memcpy(path, there, strlen(there) + 1);
        }
        kept -= (size_t)(line - text);
        memmove(text, line, kept);
    }
    close(file);
    return found;
}
