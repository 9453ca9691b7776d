/* Packed operations come from memory or a file through a small buffer of each stream: what was replayed and what is to
   come take no memory of ours. */

#include "supply.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALL_BUFFERS = 2 << 20, LEAST_OF_ONE = 4096, MOST_OF_ONE = 65536, LINE = 64, HUGE_PAGE = 2 << 20 }; /* bytes */

/* In huge pages: those of usual size would be more than the processor knows the places of. */
static char *supplies_of(size_t bytes)
{
    size_t whole = (bytes + HUGE_PAGE) / HUGE_PAGE * HUGE_PAGE;
    char *memory = aligned_alloc(HUGE_PAGE, whole);
    if (memory) madvise(memory, whole, MADV_HUGEPAGE); /* a wish, nothing is lost if it is not granted */
    return memory;
}

bool supply_init(struct app *app)
{
    size_t streams = (size_t)app->program->n_streams, bytes = ALL_BUFFERS / (streams ? streams : 1);
    app->buffered = bytes < LEAST_OF_ONE ? LEAST_OF_ONE : bytes > MOST_OF_ONE ? MOST_OF_ONE : bytes;
    size_t lines = (sizeof(struct supply) + app->buffered + PACK_MOST + LINE - 1) / LINE;
    app->supply_bytes = (lines | 1) * LINE; /* odd: streams in step would meet in few sets of the cache else */
    return (app->supplies = supplies_of(streams * app->supply_bytes));
}

static bool read_file(int file, uint8_t *into, size_t bytes, int64_t at)
{
    while (bytes) {
        ssize_t count = pread(file, into, bytes, at);
        if (count <= 0) return false;
        into += count;
        at += count;
        bytes -= (size_t)count;
    }
    return true;
}

static bool read_packed(const struct program *program, uint8_t *into, size_t bytes, int64_t at)
{
    if (program->file >= 0) return read_file(program->file, into, bytes, at);
    memcpy(into, program->packed + at, bytes);
    return true;
}

static uint8_t *buffer_of(struct supply *supply)
{
    return (uint8_t *)(supply + 1);
}

/* More bytes into the buffer, behind what of it was not unpacked yet. Behind the last ones of all zeros can be read. */
static bool fill(const struct app *app, struct supply *supply)
{
    const struct program *program = app->program;
    uint8_t *buffer = buffer_of(supply);
    size_t left = (size_t)(supply->stop - supply->at), room = app->buffered - left;
    int64_t behind = program->packed_bytes - supply->position;
    size_t n = behind < (int64_t)room ? (size_t)behind : room;
    memmove(buffer, supply->at, left);
    if (!n || !read_packed(program, buffer + left, n, supply->position)) return false;
    supply->position += (int64_t)n;
    supply->at = buffer;
    supply->stop = buffer + left + n;
    if (supply->position == program->packed_bytes) {
        memset(buffer + left + n, 0, PACK_MOST);
        supply->stop += PACK_MOST;
    }
    return true;
}

static bool next_operation(const struct app *app, struct supply *supply, struct op *op)
{
    if (supply->stop - supply->at < PACK_MOST && !fill(app, supply)) return false;
    unpack_next(supply->shapes, &supply->at, op);
    return true;
}

/* The next operations, when all that were unpacked are over. */
void supply_more(struct sim *sim, struct thread *thread)
{
    struct supply *supply = thread->supply;
    int64_t n = supply->to_come < AT_ONCE ? supply->to_come : AT_ONCE;
    supply->to_come -= n;
    thread->op = thread->end = supply->unpacked;
    for (int64_t k = 0; k < n; k++)
        if (!next_operation(thread->app, supply, &supply->unpacked[k])) {
            fail(sim, REPLAY_UNREADABLE, thread, NULL, -1);
            return;
        }
    thread->end += n;
}

/* The stream begins, perhaps once more. */
void supply_open(struct sim *sim, struct thread *thread)
{
    const struct app *app = thread->app;
    const struct program *program = app->program;
    int64_t first = program->offsets[thread->stream], last = program->offsets[thread->stream + 1];
    if (program->ops) {
        thread->op = program->ops + first;
        thread->end = program->ops + last;
        return;
    }
    struct supply *supply = (struct supply *)(app->supplies + (size_t)thread->stream * app->supply_bytes);
    thread->supply = supply;
    supply->at = supply->stop = buffer_of(supply);
    supply->position = first < last ? program->blocks[first / PACK_BLOCK] : 0;
    supply->to_come = last - first;
    for (int64_t k = first < last ? first % PACK_BLOCK : 0; k > 0; k--) {
        if (next_operation(app, supply, supply->unpacked)) continue;
        fail(sim, REPLAY_UNREADABLE, thread, NULL, -1);
        supply->to_come = 0;
    }
    supply_more(sim, thread);
}
