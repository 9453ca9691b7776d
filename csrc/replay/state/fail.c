/* How a simulation ends early. */
#include "state/fail.h"

void fail(struct sim *sim, enum replay_error error, const struct thread *thread, const struct thread *other,
          int64_t other_op)
{
    struct result *result = sim->result;
    if (sim->failed) return;
    sim->failed = true;
    *result = (struct result){
        .end = sim->now, .error = error, .stream = -1, .op = -1, .other_stream = -1, .other_op = other_op};
    if (thread) {
        result->application = thread->app->number;
        result->stream = thread->stream;
        result->op = thread->op_number - thread->app->first_op;
    }
    if (other) {
        result->other_stream = other->stream;
        result->other_op -= thread->app->first_op;
    }
}
