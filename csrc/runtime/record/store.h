/* A rank file that is valid HDF5 at every instant, written with pwrite alone (csrc/generate/template.py).
 *
 * Context: between store_begin and store_end for the store of the process; another store belongs to its caller.
 * In a signal handler store_begin returns false if it interrupted its own thread in between. */
#ifndef STORE_H
#define STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "schema.h"

/* Take the lock of the process's store and of the list of threads, and hold the signals that writing can raise. Waits.
 * Returns false if this very thread holds it already, because a signal handler of the program that interrupted it has
 * called exit, where waiting would be for ever; or after store_hurry.
 * Context: any thread. Taken before the lock of labels.c, never after it. */
bool store_begin(void);

/* Release the lock, then the signals.
 * Context: the thread that store_begin returned true to. */
void store_end(void);

/* Set whether this thread cannot wait: then store_begin gives up (false) where the store is not free within a second.
 * Context: any thread, for itself. */
void store_hurry(bool hurried);

/* Make the lock anew: in a forked child the threads that may have held it are gone.
 * Context: the handler of pthread_atfork in the child, its only thread. */
void store_reset_lock(void);

enum { MOST_SPARE = 32 };

struct table_state {
    uint64_t rows;                 /* in the file */
    uint64_t chunk_at;             /* address of the last chunk */
    uint64_t spare_at[MOST_SPARE]; /* room for one chunk each, that nothing refers to any more */
    uint64_t hole_at;              /* what stands for all dropped chunks: room for one, never written; 0: none yet */
    uint64_t leaf_at;              /* address of the last leaf of the chunk B-tree; 0: there is no tree yet */
    uint64_t root_at;              /* address of the tree's root of level 1; 0: the leaf is the whole tree */
    uint32_t leaf_used, root_used, spares;
};

struct store {
    int fd;
    dev_t device; /* with inode: what file fd is */
    ino_t inode;
    uint64_t end;      /* of what is used */
    uint64_t reserved; /* end-of-file address: behind the end, so that not every chunk has to move it */
    bool compressed;   /* the buffered tables have filters */
    bool finished;
    bool paged; /* chunks begin on pages: they can be given back to the disk */
    struct table_state table[TABLES];
};

/* Create `path` (which must not exist) from the template, with filters or without. It has another name until
 * store_publish, and is removed if anything fails. 0 or errno. */
int store_create(struct store *s, const char *path, bool compressed);

/* Give a created file its name: from now on readers find it, whatever happens to this process. 0 or errno. */
int store_publish(struct store *s, const char *path);

/* Create `path`, which may exist, with the attributes of another store without filters, and with no rows. 0 or errno.
 */
int store_create_like(struct store *s, const char *path, const struct store *like);

/* Is fd still our file? A program may close all descriptors and open its own files under their numbers; then the file
 * is opened again at `path`. 0 or errno: nothing may be written. */
int store_check(struct store *s, const char *path);

/* Append n rows to a table. 0, or errno: then the rows that did not fit the last chunk are not in the file. */
int store_append(struct store *s, enum table which, const void *rows, uint64_t n);

/* At the very end: give back what is reserved, and compress what the last chunks hold, too; then nothing can be
 * appended (ESHUTDOWN). */
void store_finish(struct store *s);

/* Where a chunk of a table without filters is, and where the file says so. 0 or errno. */
int store_find_chunk(const struct store *s, enum table which, uint64_t chunk, uint64_t *said_at, uint64_t *at);

/* Read rows of a table without filters. 0 or errno. */
int store_read(const struct store *s, enum table which, uint64_t first, uint64_t n, void *rows);

/* Write over `bytes` of a row. 0 or errno. */
int store_overwrite(const struct store *s, enum table which, uint64_t row, uint64_t offset, const void *data,
                    uint64_t bytes);

/* A full chunk of a table without filters is not needed any more: its rows read as zeros from now on, and its space is
 * for the next chunk of the table. 0 or errno. */
int store_drop_chunk(struct store *s, enum table which, uint64_t chunk);

/* Give space that waits for new chunks back to the disk, but for `bytes` of it. Returns 0 or errno. */
int store_trim(struct store *s, uint64_t bytes);

/* Can the file system do that? */
bool store_can_punch(const struct store *s);

/* Return the bytes that the file takes on the disk: holes do not count, nor does space that waits for new chunks. 0
 * without a file. */
uint64_t store_bytes(const struct store *s);

/* Hold `bytes` of the disk behind the end of the file. Returns errno where there is no room, else 0, also on a
 * file system that cannot tell. store_give_room_back releases them: between store_begin and store_end, for it cuts off
 * whatever another thread appends meanwhile. */
int store_hold_room(const struct store *s, uint64_t bytes);
void store_give_room_back(const struct store *s);

/* Take back the rows of a table from number `rows` on: it has no more. They need not be in order with its chunks, for
 * nothing is appended afterwards. */
void store_take_back(struct store *s, enum table which, uint64_t rows);

/* Set an attribute; `at` and `room` are the template's AT_... and ROOM_... */
int store_put_integer(struct store *s, uint64_t at, uint64_t value);
int store_put_text(struct store *s, uint64_t at, uint64_t room, const char *text);

#endif
