/* Packed operations come from memory or a file through a small buffer of each stream: what was replayed and what is to
   come take no memory of ours. */
#include "packed/supply.h"

#include <unistd.h>

#include "state/channel.h"
#include "state/fail.h"

enum { ALL_BUFFERS = 2 << 20, LEAST_OF_ONE = 1024, MOST_OF_ONE = 65536 }; /* bytes */

static struct supply *supply_of(const struct app *app, int32_t stream)
{
    return (struct supply *)(app->supplies + (size_t)stream * app->supply_bytes);
}

bool supply_init(struct sim *sim, struct app *app)
{
    int32_t streams = app->program->n_streams;
    size_t bytes = ALL_BUFFERS / (size_t)(streams ? streams : 1);
    app->buffered = bytes < LEAST_OF_ONE ? LEAST_OF_ONE : bytes > MOST_OF_ONE ? MOST_OF_ONE : bytes;
    app->places = (unsigned)app->program->places;
    app->sendings = sizeof(struct supply) + app->places * sizeof(struct plan);
    app->shapes = app->sendings + app->places * sizeof(struct sending);
    app->bytes = app->shapes + app->places * sizeof(struct op);
    size_t lines = (app->bytes + app->buffered + PACK_MOST + LINE - 1) / LINE;
    app->supply_bytes = (lines | 1) * LINE; /* odd: streams in step would meet in few sets of the cache else */
    app->supplies = arena_take(&sim->arena, (size_t)streams * app->supply_bytes);
    for (int32_t k = 0; app->supplies && k < streams; k++) memset(supply_of(app, k), 0, app->bytes);
    return app->supplies;
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

static uint8_t *buffer_of(const struct app *app, struct supply *supply)
{
    return (uint8_t *)supply + app->bytes;
}

/* More bytes into the buffer, behind what of it was not unpacked yet. Behind the last ones of all zeros can be read. */
static bool fill(struct thread *thread)
{
    const struct app *app = thread->app;
    const struct program *program = app->program;
    struct supply *supply = thread->supply;
    uint8_t *buffer = buffer_of(app, supply);
    size_t left = (size_t)(thread->stop - thread->at), room = app->buffered - left;
    int64_t behind = program->packed_bytes - supply->position;
    size_t n = behind < (int64_t)room ? (size_t)behind : room;
    memmove(buffer, thread->at, left);
    if (!n || !read_packed(program, buffer + left, n, supply->position)) return false;
    supply->position += (int64_t)n;
    thread->at = buffer;
    thread->stop = buffer + left + n;
    if (supply->position == program->packed_bytes) {
        memset(buffer + left + n, 0, PACK_MOST);
        thread->stop += PACK_MOST;
    }
    return true;
}

/* ---- The next operation: its place among the plans, -1: it cannot be read. */

static void forget(struct sim *sim, struct plan *plan)
{
    plan->made = plan->simple = false;
    if (plan->channel) channel_leave(sim, plan);
}

static int next_place(struct sim *sim, struct thread *thread, int64_t *burst)
{
    struct supply *supply = thread->supply;
    if (thread->stop - thread->at < PACK_MOST && !fill(thread)) return -1;
    if (*thread->at % PACK_PLACES >= thread->app->places) return -1;
    unsigned found = unpack_place(supply_shapes(thread->app, supply), &thread->at, burst), place = found % PACK_PLACES;
    if (found & PACK_NEW) forget(sim, &supply_plans(supply)[place]);
    return (int)place;
}

int64_t supply_next_new(struct sim *sim, struct thread *thread)
{
    struct supply *supply = thread->supply;
    thread->plan = &sim->end;
    if (!thread->to_come) return 0;
    thread->to_come--;
    int64_t burst = 0;
    int place = next_place(sim, thread, &burst);
    if (place < 0) {
        fail(sim, REPLAY_UNREADABLE, thread, NULL, -1);
        return 0;
    }
    thread->op = &supply_shapes(thread->app, supply)[place];
    thread->plan = &supply_plans(supply)[place];
    return burst;
}

/* The stream begins, perhaps once more. */
void supply_open(struct sim *sim, struct thread *thread)
{
    const struct app *app = thread->app;
    const struct program *program = app->program;
    struct supply *supply = supply_of(app, thread->stream);
    int64_t first = program->offsets[thread->stream], last = program->offsets[thread->stream + 1], burst;
    thread->supply = supply;
    for (unsigned k = 0; k < app->places; k++) forget(sim, &supply_plans(supply)[k]);
    thread->to_come = last - first;
    thread->at = thread->stop = buffer_of(app, supply);
    supply->position = first < last ? program->blocks[first / PACK_BLOCK] : 0;
    for (int64_t k = first < last ? first % PACK_BLOCK : 0; k > 0; k--) {
        if (next_place(sim, thread, &burst) >= 0) continue;
        fail(sim, REPLAY_UNREADABLE, thread, NULL, -1);
        thread->to_come = 0;
    }
}
