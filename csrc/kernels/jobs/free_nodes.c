/* Keeps the number of nodes that will be free, as steps in order of time. */
#include "jobs/internal/free_nodes.h"

#include <string.h>

/* Return the step that holds at `time`, which must not be before the first step. */
static int64_t step_at(const struct free_nodes *o, int64_t time)
{
    int64_t low = 0, high = o->n;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (o->time[middle] <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int64_t free_nodes_earliest(const struct free_nodes *o, int64_t now, int64_t width, int64_t length)
{
    int64_t first = step_at(o, now), at = now;
    for (int64_t i = first; i < o->n && o->time[i] < at + length; i++)
        if (o->free[i] < width && i + 1 < o->n) at = o->time[i + 1];
    return at;
}

static void remove_step(struct free_nodes *o, int64_t i)
{
    size_t rest = (size_t)(o->n - i - 1) * sizeof *o->time;
    memmove(o->time + i, o->time + i + 1, rest);
    memmove(o->free + i, o->free + i + 1, rest);
    o->n--;
}

/* Return the step that begins at `time`; make it if there is none. */
static int64_t step_from(struct free_nodes *o, int64_t time)
{
    int64_t i = step_at(o, time);
    if (o->time[i] == time) return i;
    size_t rest = (size_t)(o->n - i - 1) * sizeof *o->time;
    memmove(o->time + i + 2, o->time + i + 1, rest);
    memmove(o->free + i + 2, o->free + i + 1, rest);
    o->time[i + 1] = time;
    o->free[i + 1] = o->free[i];
    o->n++;
    return i + 1;
}

void free_nodes_add(struct free_nodes *o, int64_t begin, int64_t end, int64_t nodes)
{
    if (begin >= end) return;
    int64_t first = step_from(o, begin), last = step_from(o, end);
    for (int64_t i = first; i < last; i++) o->free[i] += nodes;
    if (o->free[last] == o->free[last - 1]) remove_step(o, last);
    if (first && o->free[first] == o->free[first - 1]) remove_step(o, first);
}

void free_nodes_forget(struct free_nodes *o, int64_t now)
{
    int64_t first = step_at(o, now);
    size_t rest = (size_t)(o->n - first) * sizeof *o->time;
    memmove(o->time, o->time + first, rest);
    memmove(o->free, o->free + first, rest);
    o->n -= first;
    if (o->time[0] < now) o->time[0] = now;
}
