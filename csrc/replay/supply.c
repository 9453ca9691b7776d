/* Operations come from an array, or from a file through a small buffer of each stream: what was replayed and what is to
   come take no memory. */

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim.h"

enum { ALL_BUFFERS = 2 << 20, LEAST_OF_ONE = 8192, MOST_OF_ONE = 65536, HUGE_PAGE = 2 << 20 }; /* bytes */

/* In huge pages: those of usual size would be more than the processor knows the places of. */
static struct op *buffers_of(size_t bytes)
{
    size_t whole = (bytes + HUGE_PAGE) / HUGE_PAGE * HUGE_PAGE;
    void *memory = aligned_alloc(HUGE_PAGE, whole);
    if (memory) madvise(memory, whole, MADV_HUGEPAGE); /* a wish, nothing is lost if it is not granted */
    return memory;
}

bool supply_init(struct app *app)
{
    size_t streams = (size_t)app->program->n_streams, bytes = ALL_BUFFERS / (streams ? streams : 1);
    bytes = bytes < LEAST_OF_ONE ? LEAST_OF_ONE : bytes > MOST_OF_ONE ? MOST_OF_ONE : bytes;
    app->buffered = bytes / sizeof(struct op);
    app->buffers = buffers_of(streams * app->buffered * sizeof *app->buffers);
    if (!app->buffers) return false;
    for (size_t k = 0; k < streams; k++) app->threads[k].buffer = app->buffers + k * app->buffered;
    return true;
}

static bool read_whole(int file, char *into, size_t bytes, int64_t at)
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

/* The next operations of the file, when all in the buffer are over. */
void supply_more(struct sim *sim, struct thread *thread)
{
    const struct program *program = thread->app->program;
    const size_t size = sizeof *thread->buffer, left = (size_t)thread->in_file;
    size_t n = left < thread->app->buffered ? left : thread->app->buffered;
    int64_t first = program->offsets[thread->stream + 1] - thread->in_file;
    bool good = read_whole(program->file, (char *)thread->buffer, n * size, first * (int64_t)size);
    thread->op = thread->buffer;
    thread->end = thread->op + (good ? n : 0);
    thread->in_file -= (int64_t)n;
    if (!good) fail(sim, REPLAY_UNREADABLE, thread, NULL, -1);
}

/* The stream begins, perhaps once more. */
void supply_open(struct sim *sim, struct thread *thread)
{
    const struct program *program = thread->app->program;
    const int64_t *offset = program->offsets + thread->stream;
    if (program->file < 0) {
        thread->op = program->ops + offset[0];
        thread->end = program->ops + offset[1];
        return;
    }
    thread->in_file = offset[1] - offset[0];
    thread->op = thread->end = thread->buffer;
    if (thread->in_file) supply_more(sim, thread);
}
