/* The programs and libraries of this process, by address. All of it under the lock of places.c. */
#ifndef MODULES_H
#define MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "schema.h"

enum { MOST_SEGMENTS = 8 };

struct span {
    const uint8_t *begin, *end;
};

struct module {
    uint64_t begin, end, base;
    struct span segments[MOST_SEGMENTS]; /* what of it can be read */
    unsigned segment_count;
    const uint8_t *index;    /* its .eh_frame_hdr; NULL: it has none */
    struct file_module says; /* its row of the table `modules`, once it has one */
    uint32_t row;            /* the number of that row; 0: it has none yet */
};

/* The module that has this address; NULL: none, or one too many. Looks for new ones. */
const struct module *modules_find(uint64_t address);

/* From here on modules_find asks the dynamic linker for none: a signal handler must not. */
void modules_only_known(bool only);

/* Since it was asked the last time, some came or went. libc unloads its own plugins without dlclose. */
bool modules_changed(void);

/* Some may be gone: all are looked for anew. Their rows stay. */
void modules_forget(void);

/* The number of a module's row in the table `modules`; 0: there are too many. */
uint32_t modules_row(const struct module *m);

/* Rows of the table, the first of which is "none". */
const struct file_module *modules_rows(uint32_t *count);

/* Return the part of the module's memory that can be read from here on; both NULL: nothing. */
struct span modules_readable(const struct module *m, const uint8_t *at);

#endif
