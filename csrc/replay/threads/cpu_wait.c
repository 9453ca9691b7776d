/* When threads waited for a processor: slices make any number of such times out of few operations, so they go to a
   file, a buffer at a time. */
#include "threads/cpu_wait.h"

#include <unistd.h>

#include "state/fail.h"

static bool write_all(int file, const char *from, size_t bytes)
{
    while (bytes) {
        ssize_t count = write(file, from, bytes);
        if (count <= 0) return false;
        from += count;
        bytes -= (size_t)count;
    }
    return true;
}

void cpu_waits_write(struct sim *sim)
{
    const struct output *out = &sim->output;
    size_t bytes = (size_t)sim->cpu_waits * sizeof *out->cpu_waits;
    if (!write_all(out->cpu_waits_file, (const char *)out->cpu_waits, bytes))
        fail(sim, REPLAY_UNWRITABLE, NULL, NULL, -1);
    sim->result->n_cpu_waits += sim->cpu_waits;
    sim->cpu_waits = 0;
}

void cpu_wait_add(struct sim *sim, const struct thread *thread, int64_t since, int64_t until)
{
    int64_t stream = thread->app->first_stream + thread->stream;
    if (sim->cpu_waits == sim->output.cpu_waits_room) cpu_waits_write(sim);
    sim->output.cpu_waits[sim->cpu_waits++] = (struct cpu_wait){since, until, (int32_t)stream, thread->cpu};
}
