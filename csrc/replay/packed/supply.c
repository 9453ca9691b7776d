/* A thread's operations come through a small buffer of its own. */
#include "packed/supply.h"

#include "packed/window.h"
#include "state/channel.h"
#include "state/fail.h"

static struct supply *supply_of(const struct app *app, int32_t stream)
{
    return (struct supply *)(app->supplies + (size_t)stream * app->supply_bytes);
}

bool supply_init(struct sim *sim, struct app *app)
{
    int32_t streams = app->program->n_streams;
    app->buffered = window_bytes(streams);
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

static uint8_t *buffer_of(const struct app *app, struct supply *supply)
{
    return (uint8_t *)supply + app->bytes;
}

static bool fill_ops(struct thread *thread)
{
    const struct app *app = thread->app;
    uint8_t *buffer = buffer_of(app, thread->supply);
    return window_fill(app->program, buffer, app->buffered, &thread->at, &thread->stop, &thread->supply->position);
}

/* ---- The next operation: its place among the plans, -1: it cannot be read. */

static void forget_plan(struct sim *sim, struct plan *plan)
{
    plan->made = plan->simple = false;
    if (plan->channel) channel_leave(sim, plan);
}

static int next_place(struct sim *sim, struct thread *thread, int64_t *burst)
{
    struct supply *supply = thread->supply;
    if (thread->stop - thread->at < PACK_MOST && !fill_ops(thread)) return -1;
    if (*thread->at % PACK_PLACES >= thread->app->places) return -1;
    unsigned found = unpack_place(supply_shapes(thread->app, supply), &thread->at, burst), place = found % PACK_PLACES;
    if (found & PACK_NEW) forget_plan(sim, &supply_plans(supply)[place]);
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
    for (unsigned k = 0; k < app->places; k++) forget_plan(sim, &supply_plans(supply)[k]);
    thread->to_come = last - first;
    thread->at = thread->stop = buffer_of(app, supply);
    supply->position = first < last ? program->blocks[first / PACK_BLOCK] : 0;
    for (int64_t k = first < last ? first % PACK_BLOCK : 0; k > 0; k--) {
        if (next_place(sim, thread, &burst) >= 0) continue;
        fail(sim, REPLAY_UNREADABLE, thread, NULL, -1);
        thread->to_come = 0;
    }
}
