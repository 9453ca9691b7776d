/* The lines of a Dimemas trace, thread by thread; each is a record of operations (dimrecord.c). */
#include "dimemas/dimread.h"

#include <stdlib.h>
#include <string.h>

#include "dimemas/internal/dimrecord.h"

static void *copy_allocated(const void *from, size_t bytes)
{
    void *to = malloc(bytes ? bytes : 1);
    if (to) memcpy(to, from, bytes);
    return to;
}

struct dim_reader *dim_reader_new(int64_t tasks, const int32_t *threads, int64_t comms, const int32_t *ids,
                                  const int32_t *index, const int64_t *offsets, const int32_t *members)
{
    struct dim_reader *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->tasks = tasks;
    r->stream = -1;
    r->task = -1;
    r->comms = comms;
    r->first_stream = calloc((size_t)tasks + 1, sizeof *r->first_stream);
    if (!r->first_stream) return dim_reader_free(r), NULL;
    for (int64_t k = 0; k < tasks; k++) r->first_stream[k + 1] = r->first_stream[k] + threads[k];
    r->lengths = calloc((size_t)r->first_stream[tasks] + 1, sizeof *r->lengths);
    r->slots = calloc((size_t)r->first_stream[tasks] + 1, sizeof *r->slots);
    r->ids = copy_allocated(ids, (size_t)comms * sizeof *ids);
    r->index = copy_allocated(index, (size_t)comms * sizeof *index);
    r->offsets = copy_allocated(offsets, (size_t)(comms + 1) * sizeof *offsets);
    r->members = copy_allocated(members, (size_t)offsets[comms] * sizeof *members);
    r->member = calloc((size_t)comms + 1, sizeof *r->member);
    r->open = dim_open_new();
    bool whole = r->lengths && r->slots && r->ids && r->index && r->offsets && r->members && r->member && r->open;
    if (!whole) return dim_reader_free(r), NULL;
    return r;
}

void dim_reader_free(struct dim_reader *r)
{
    if (!r) return;
    free(r->first_stream);
    free(r->lengths);
    free(r->slots);
    free(r->ids);
    free(r->index);
    free(r->offsets);
    free(r->members);
    free(r->member);
    dim_open_free(r->open);
    free(r);
}

int64_t dim_reader_problem(const struct dim_reader *r, int64_t *line)
{
    *line = r->line;
    return r->reason;
}

void dim_reader_streams(const struct dim_reader *r, int64_t *lengths, int32_t *slots)
{
    size_t streams = (size_t)r->first_stream[r->tasks];
    memcpy(lengths, r->lengths, streams * sizeof *lengths);
    memcpy(slots, r->slots, streams * sizeof *slots);
}

int64_t dim_reader_eager_limit(const struct dim_reader *r)
{
    return r->eager_limit;
}

static bool is_member(const struct dim_reader *r, int64_t comm, int32_t task)
{
    int64_t low = r->offsets[comm], high = r->offsets[comm + 1] - 1;
    while (low <= high) {
        int64_t middle = low + (high - low) / 2;
        if (r->members[middle] == task) return true;
        if (r->members[middle] < task)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return false;
}

static void end_stream(struct dim_reader *r)
{
    if (r->stream < 0) return;
    dim_put_burst(r);
    r->slots[r->stream] = dim_open_slots(r->open);
    dim_open_clear(r->open);
}

static void enter(struct dim_reader *r, struct cursor *c, int64_t task, int64_t thread)
{
    if (c->reason != DIM_FINE) return;
    if (task < 0 || task >= r->tasks || thread < 0 || thread >= r->first_stream[task + 1] - r->first_stream[task])
        return dim_wrong(c, DIM_NO_THREAD);
    int64_t stream = r->first_stream[task] + thread;
    if (stream == r->stream) return;
    if (stream < r->stream) return dim_wrong(c, DIM_OUT_OF_ORDER);
    end_stream(r);
    r->stream = stream;
    if (r->task == task) return;
    r->task = (int32_t)task;
    for (int64_t k = 0; k < r->comms; k++) r->member[k] = is_member(r, k, r->task);
}

static enum dim_reason read_dim_line(struct dim_reader *r, const char *line, const char *end)
{
    struct cursor c = {line, trimmed_end(line, end), DIM_FINE};
    if (c.at == c.end) return DIM_FINE;
    if (*line == 's' || r->at_offsets) {
        if (*line != 's') return DIM_AFTER_OFFSETS;
        r->at_offsets = true; /* the records tell where each thread begins */
        return DIM_FINE;
    }
    if (*line == 'd') return DIM_LATE_DEFINITION;
    if ((unsigned)(*line - '0') >= 10) return DIM_NO_RECORD;
    int64_t kind = dim_number(&c), task = dim_number(&c), thread = dim_number(&c);
    enter(r, &c, task, thread);
    if (c.reason == DIM_FINE) dim_read_record(r, &c, kind);
    return c.reason;
}

int64_t dim_read(struct dim_reader *r, const char *text, int64_t length, void *out, int64_t room, int64_t *used)
{
    const char *line = text, *stop = text + length;
    struct op *full = (struct op *)out + room;
    r->out = out;
    while (line < stop && full - r->out >= 2) {
        const char *end = memchr(line, '\n', (size_t)(stop - line));
        if (!end) break;
        r->line++;
        r->reason = read_dim_line(r, line, end);
        if (r->reason != DIM_FINE) break;
        line = end + 1;
    }
    *used = line - text;
    return r->out - (struct op *)out;
}

int64_t dim_read_end(struct dim_reader *r, void *out)
{
    r->out = out;
    end_stream(r);
    return r->out - (struct op *)out;
}
