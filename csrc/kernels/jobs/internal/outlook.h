#ifndef OUTLOOK_H
#define OUTLOOK_H

#include <stdint.h>

/* How many nodes will be free when: free[i] from time[i] on, until time[i + 1]; the last for ever. */
struct outlook {
    int64_t *time, *free;
    int64_t n;
};

/* The earliest instant from `now` on, at which `width` nodes are free for `length`. Some day that many are free. */
int64_t outlook_earliest(const struct outlook *outlook, int64_t now, int64_t width, int64_t length);

/* So many nodes more (less, if negative) are free from begin to end. The arrays hold two more steps. */
void outlook_add(struct outlook *outlook, int64_t begin, int64_t end, int64_t nodes);

/* Forget what was before `now`. */
void outlook_forget(struct outlook *outlook, int64_t now);

#endif
