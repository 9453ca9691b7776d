/* A rank file written anew: what is kept of it, with less said of what was dropped. Only files without filters.
 *
 * Context: between store_begin and store_end. */
#ifndef REWRITE_H
#define REWRITE_H

#include <stdint.h>

#include "record/skipped.h"
#include "record/store.h"

/* Bytes that the file has for its blocks, and for finding them: they grow though blocks are dropped. */
uint64_t rewrite_bookkeeping(const struct store *s);

/* At least half of what the fullest table can ever hold is used up. */
bool rewrite_is_due(const struct store *s);

/* Replace the file at `path`, which `s` is: neighbouring dropped blocks of a thread become one, their messages are
 * added up by channel, and rows of kept blocks close up. `open`: times of posting of receives whose completion may be
 * recorded though their posting is dropped, in order. 0, or errno: then all is as before. */
int rewrite_store(struct store *s, const char *path, const struct open_receives *open);

#endif
