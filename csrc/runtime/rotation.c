/* Which set of counters is read when: TRACELIB_ROTATE=500ms or collectives:100, and where ranks begin: spread. */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "counters.h"
#include "message.h"
#include "schedule.h"
#include "thread.h"

enum { DEFAULT_PERIOD_MS = 1000 };

bool rotation_by_time, rotation_by_collectives;

static struct {
    unsigned sets, first, offset; /* sets first .. first + sets - 1 take turns, from first + offset on */
    bool spread;
    int64_t period_ns, since_ns;
    uint64_t step, collectives;
} rotation;

static bool read_word(const char *word, size_t length)
{
    static const char collectives[] = "collectives:";
    size_t c = sizeof collectives - 1;
    if (length == 6 && strncmp(word, "spread", 6) == 0) return rotation.spread = true;
    if (length > c && strncmp(word, collectives, c) == 0)
        return (rotation.step = schedule_number(word + c, length - c)) != 0;
    return (rotation.period_ns = schedule_interval_ns(word, length)) != 0;
}

/* "500ms", "collectives:100,spread". False: it is neither. */
static bool read_wish(const char *text)
{
    bool good = true;
    while (text && *text) {
        size_t length = strcspn(text, ",");
        good = read_word(text, length) && good;
        text += length + (text[length] == ',');
    }
    return good;
}

void rotation_prepare(unsigned first, unsigned sets)
{
    const char *wish = getenv("TRACELIB_ROTATE");
    rotation.first = first;
    rotation.sets = sets;
    if (sets > 1 && !read_wish(wish))
        counters_note("TRACELIB_ROTATE", "is not such as 500ms, collectives:100, or these with ,spread");
    if (!rotation.period_ns && !rotation.step) rotation.period_ns = DEFAULT_PERIOD_MS * INT64_C(1000000);
}

void rotation_start(unsigned first, unsigned sets, int rank)
{
    rotation.first = first;
    rotation.sets = sets;
    if (rotation.sets < 2) return;
    rotation.offset = rotation.spread ? (unsigned)rank % rotation.sets : 0;
    rotation.since_ns = clock_monotonic_ns();
    rotation_by_time = rotation.period_ns != 0;
    rotation_by_collectives = rotation.step != 0;
}

uint32_t rotation_current(void)
{
    uint64_t turns = 0;
    if (!rotation.sets) return 0;
    if (rotation_by_time) turns += (uint64_t)(clock_monotonic_ns() - rotation.since_ns) / (uint64_t)rotation.period_ns;
    if (rotation_by_collectives) turns += __atomic_load_n(&rotation.collectives, __ATOMIC_RELAXED) / rotation.step;
    return rotation.first + (uint32_t)((turns + rotation.offset) % rotation.sets);
}

void rotation_collective(struct thread *t)
{
    __atomic_fetch_add(&rotation.collectives, 1, __ATOMIC_RELAXED);
    rotation_look(t);
}

/* The set changes when the call that goes on has been recorded: then a burst begins with it. */
void rotation_look(struct thread *t)
{
    if (t->readings && thread_gate(t) == GATE_INSIDE && rotation_current() != t->set) thread_set_gate(t, GATE_DUE);
}
