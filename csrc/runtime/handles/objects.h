/* Windows and files: from a handle to a row of `objects`, and what is needed to say where in it a call goes. */
#ifndef OBJECTS_H
#define OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/abi.h"
#include "record/store.h"

struct object {
    word handle;
    enum objectkind kind;
    uint32_t index;   /* row of `objects` */
    uint32_t comm;    /* row of `communicators` */
    uint32_t unit;    /* bytes: displacement unit of a window, elementary type of a file's view */
    int64_t begin;    /* of a file: displacement of its view */
    bool dense;       /* of a file: its view has no holes */
    bool positioned;  /* of a file: it has individual file pointers, and offsets can be told in bytes */
    int64_t split_at; /* of a file: where the split collective that is going on begins */
};

/* Write the row "none". 0 or errno. */
int objects_start(struct store *store);

/* A creating call has returned `handle`, made by the members of comm. Of the given row the rest is filled in. */
const struct object *objects_created(const struct object *like, word comm, struct file_object row);

/* NULL: none, or made out of our sight. The entry stays good; only its own handle's calls change it. */
struct object *objects_find(enum objectkind kind, word handle);

/* The handle was freed, if it still stands for this object. */
void objects_freed(const struct object *object);

#endif
