/* An explicit schedule of sets of counters: the file of TRACELIB_ROTATE=file:PATH (docs/counters.md). */
#ifndef TURNS_H
#define TURNS_H

#include <stdbool.h>
#include <stdint.h>

/* From a time or from a number of collectives on; what does not count is at its maximum. */
struct turn {
    int64_t at_ns, next_ns; /* `next`: the first of all later turns */
    uint64_t at_collective, next_collective;
    unsigned place; /* of the set among those that are read */
};

struct turns {
    unsigned n; /* 0: there is no schedule. The first is the first set, from the beginning */
    unsigned current;
    struct turn *turn;
};

/* The turns of one rank in a file's text, where sets are numbered from 1 to `sets`: places[0] is that of set 1, -1
 * where nothing of it counts, so that the set before it stays. False: line *line is none, and why. */
bool turns_read(struct turns *turns, const char *text, int rank, const int *places, unsigned sets, unsigned *line,
                const char **why);

/* Return the place of the set at that time (ns) after the beginning and after that number of collectives: of the turns
 * that have come, the last in the file.
 */
unsigned turns_place(struct turns *turns, int64_t elapsed_ns, uint64_t collectives);

#endif
