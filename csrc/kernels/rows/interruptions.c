/* Events that begin and end what is not the program's, or its waiting for a CPU, as intervals. */
#include "rows/interruptions.h"

#include <stdbool.h>

#include "rows/inline/ticks.h"

/* Kinds of interruptions. If several go on at once, the first in this order counts. */
enum { FLUSH, SYNC, PATHS, CPU_WAIT, TRACING, KINDS };

static const int32_t state_of[KINDS] = {STATE_IO, STATE_OTHERS, STATE_PATHS, STATE_SCHEDULING, STATE_TRACING_DISABLED};

/* Return the kind of interruption that an event begins or ends; KINDS: none. */
static int interruption_kind(const struct file_event *event)
{
    switch (event->type) {
    case FLUSH_TYPE:
        return FLUSH;
    case SYNC_TYPE:
        return SYNC;
    case PATHS_TYPE:
        return PATHS;
    case CPU_WAIT_TYPE:
        return CPU_WAIT;
    case TRACING_TYPE:
        return TRACING;
    default:
        return KINDS;
    }
}

static bool begins_without_recording(const struct file_event *events, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (events[i].type == TRACING_TYPE) return events[i].value == 1;
    return false;
}

int64_t interruptions(const struct lane *lane, const void *events, int64_t n, void *flushes)
{
    const struct file_event *event = events;
    struct trace_flush *found = flushes;
    bool goes_on[KINDS + 1] = {[TRACING] = begins_without_recording(event, n), [KINDS] = false};
    int64_t since = lane->start;
    for (int64_t i = 0; i <= n; i++) {
        int kind = i < n ? interruption_kind(&event[i]) : KINDS, now = 0;
        if (i < n && kind == KINDS) continue;
        int64_t time = i < n ? lane_ns(lane, event[i].time) : lane->stop;
        while (now < KINDS && !goes_on[now]) now++;
        if (now < TRACING || (now == TRACING && time > since))
            *found++ = (struct trace_flush){since, time, lane->thread, state_of[now]};
        since = time;
        if (i < n) goes_on[kind] = (event[i].value != 0) == (kind != TRACING);
    }
    return found - (struct trace_flush *)flushes;
}
