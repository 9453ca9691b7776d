/* The groups of a packed run's ranks, found once for all of them. */
#include "hdf5/internal/h5.h"
#include "hdf5/rank_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_BYTES = 24, MOST_DIGITS = 9 };

struct search {
    uint64_t found; /* header of `ranks`; 0: none yet */
};

struct listing {
    int64_t *headers;
    int64_t room, end;
};

static bool note_ranks(void *context, const char *name, uint64_t header)
{
    struct search *s = context;
    if (!strcmp(name, "ranks")) s->found = header;
    return true;
}

/* Members of other names are none of ranks. */
static bool note_rank(void *context, const char *name, uint64_t header)
{
    struct listing *l = context;
    char as_written[NAME_BYTES];
    if (strspn(name, "0123456789") != strlen(name) || strlen(name) > MOST_DIGITS) return true;
    int64_t rank = strtol(name, NULL, 10);
    snprintf(as_written, sizeof as_written, "%06" PRId64, rank);
    if (strcmp(name, as_written)) return true;
    if (rank < l->room) l->headers[rank] = (int64_t)header;
    if (rank >= l->end) l->end = rank + 1;
    return true;
}

static bool list_groups(struct h5 *f, int fd, uint64_t bytes, struct listing *listing)
{
    struct search search = {0};
    struct h5_messages group;
    if (!h5_open(f, fd, bytes) || !h5_messages(f, f->root, &group)) return false;
    if (!h5_members(f, &group, note_ranks, &search) || !search.found) return false;
    return h5_messages(f, search.found, &group) && h5_members(f, &group, note_rank, listing);
}

int64_t rank_groups(const char *path, int64_t *headers, int64_t room)
{
    struct h5 file; /* the blocks in it need no value */
    struct stat status;
    struct listing listing = {headers, room, 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    bool known = !fstat(fd, &status) && list_groups(&file, fd, (uint64_t)status.st_size, &listing);
    close(fd);
    return known ? listing.end : -1;
}
