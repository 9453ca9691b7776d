#ifndef WINDOW_H
#define WINDOW_H
/* Accesses to windows, and the locks of these. */

#include "message.h"

struct sim;
struct thread;

enum { KEY_ACCESSES, KEY_LOCKS }; /* `c` of the keys of what is in a window */

/* Of one rank to a target, or to a window; while there are any. */
struct accesses {
    struct entry entry;
    int32_t n;
    struct thread *waiting; /* by their number */
};

/* Of a target; or of a window, where all of its targets are locked. */
struct lock {
    struct entry entry;
    struct lock *window; /* NULL: this is one */
    int32_t holders;
    int32_t exclusive; /* 1: the holder excludes others; of a window: how many of its targets' do */
    struct thread *first, **last;
    int32_t targets;                   /* of a window: how many of its locks there are */
    struct lock *listed, *last_listed; /* of a window: those of targets that somebody waits for */
    struct lock *before, *after;       /* in that list */
};

/* access.c; access_begin is false: no memory */
bool access_begin(struct sim *sim, const struct thread *thread, struct access *access);
void access_over(struct sim *sim, struct access *access);
void access_wait(struct sim *sim, struct thread *thread);

/* lock.c */
void lock_take(struct sim *sim, struct thread *thread);
void lock_give(struct sim *sim, struct thread *thread);

#endif
