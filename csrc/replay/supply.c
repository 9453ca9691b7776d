/* Packed operations come from memory, or from a file through a small buffer of each stream: what was replayed and what
   is to come take no memory of ours. */

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
    bytes = bytes < LEAST_OF_ONE ? LEAST_OF_ONE : bytes > MOST_OF_ONE ? MOST_OF_ONE : bytes / LINE * LINE;
    app->buffered = app->program->packed ? 0 : bytes;
    size_t each = PACK_PLACES * sizeof(struct shape) + app->buffered + PACK_MOST;
    each |= LINE; /* an odd number of lines: streams in step meet in few sets of the cache else */
    app->supplies = supplies_of(streams * each);
    if (!app->supplies) return false;
    for (size_t k = 0; k < streams; k++) app->threads[k].shapes = (struct shape *)(app->supplies + k * each);
    return true;
}

static bool read_whole(int file, uint8_t *into, size_t bytes, int64_t at)
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

/* Fill the buffer from the file again, behind what of it was not unpacked yet. Behind the end of all operations zeros
   can be read. */
void supply_more(struct sim *sim, struct thread *thread)
{
    if (thread->to_come <= 0) return;
    const struct program *program = thread->app->program;
    uint8_t *buffer = (uint8_t *)(thread->shapes + PACK_PLACES);
    size_t left = (size_t)(thread->packed_end - thread->packed), room = thread->app->buffered - left;
    int64_t in_file = program->packed_bytes - thread->in_file;
    size_t n = in_file < (int64_t)room ? (size_t)in_file : room;
    memmove(buffer, thread->packed, left);
    if (!n || !read_whole(program->file, buffer + left, n, thread->in_file)) {
        thread->to_come = 0;
        fail(sim, REPLAY_UNREADABLE, thread, NULL, -1);
        return;
    }
    thread->in_file += (int64_t)n;
    thread->packed = buffer;
    thread->packed_end = buffer + left + n;
    if (thread->in_file == program->packed_bytes) {
        memset(buffer + left + n, 0, PACK_MOST);
        thread->packed_end += PACK_MOST;
    }
}

/* The stream begins, perhaps once more. */
void supply_open(struct sim *sim, struct thread *thread)
{
    const struct program *program = thread->app->program;
    int64_t first = program->offsets[thread->stream], last = program->offsets[thread->stream + 1];
    if (!thread->shapes) {
        thread->op = program->ops + first;
        thread->end = program->ops + last;
        return;
    }
    thread->op = thread->end = &thread->shapes[PACK_PLACES].op;
    if (first == last) return;
    thread->in_file = program->blocks[first / PACK_BLOCK];
    thread->to_come = last - first + first % PACK_BLOCK;
    thread->packed = thread->packed_end = (uint8_t *)(thread->shapes + PACK_PLACES);
    if (program->packed) {
        thread->packed = program->packed + thread->in_file;
        thread->packed_end = program->packed + program->packed_bytes + PACK_MOST;
    }
    for (int64_t k = 0; k <= first % PACK_BLOCK; k++) supply_next(sim, thread);
}
