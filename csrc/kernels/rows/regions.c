/* Turns the begins and ends of regions that the program made into regions that nest. */
#include "rows/regions.h"
#include "records.h"

enum { BEGINS = 1, ENDS = 2, REAL = 1 << 15, GAP = 1 };
enum { WITHOUT_BEGIN, BY_OUTER, CUT, SEEN_GAP }; /* counts */

struct nest {
    struct file_event *open;
    int64_t depth;
    struct file_event *out;
};

static void put_end(struct nest *to, const struct file_event *row)
{
    struct file_event end = *row;
    end.value = to->open[--to->depth].value;
    *to->out++ = end;
}

/* Return the depth (from 1) of the innermost open region with this number; 0: it is not open. */
static int64_t depth_of(const struct nest *to, int64_t region)
{
    int64_t depth = to->depth;
    while (depth && to->open[depth - 1].value != region) depth--;
    return depth;
}

static void end_region(struct nest *to, const struct file_event *row, int64_t region, int64_t *counts)
{
    int64_t depth = row->value ? depth_of(to, region) : to->depth;
    if (!depth)
        counts[counts[SEEN_GAP] ? CUT : WITHOUT_BEGIN]++;
    else
        counts[BY_OUTER] += to->depth - depth;
    while (depth && to->depth >= depth) put_end(to, row);
}

/* End all open regions where rows were dropped: their ends may be among the dropped rows, and this is the last time
   at which they are certain to be open. */
static void cut(struct nest *to, const struct file_event *row, int64_t *counts)
{
    struct file_event end = *row;
    end.type = REGION_TYPE;
    end.flags = ENDS;
    counts[SEEN_GAP] = 1;
    counts[CUT] += to->depth;
    while (to->depth) put_end(to, &end);
}

static int64_t region_number(const int32_t *numbers, int64_t n, int64_t in_file)
{
    return in_file >= 0 && in_file < n ? numbers[in_file] : 0;
}

int64_t regions_nest(void *open, int64_t *n_open, const void *rows, int64_t n, const int32_t *regions,
                     int64_t n_regions, const int32_t *parameters, int64_t n_parameters, int64_t *counts, void *out)
{
    const struct file_event *row = rows, *last = row + n;
    struct nest to = {open, *n_open, out};
    for (; row < last; row++) {
        struct file_event kept = *row;
        if (row->type == PARAMETER_TYPE) {
            int64_t parameter = region_number(parameters, n_parameters, row->flags & (REAL - 1));
            kept.flags = (uint16_t)(parameter | (row->flags & REAL));
            if (parameter) *to.out++ = kept;
        } else if (row->type != REGION_TYPE) {
            if (row->type == TRACING_TYPE && row->flags == GAP) cut(&to, row, counts);
            *to.out++ = kept;
        } else if (row->flags == ENDS) {
            end_region(&to, row, region_number(regions, n_regions, row->value), counts);
        } else if ((kept.value = region_number(regions, n_regions, row->value)) && row->flags == BEGINS) {
            *to.out++ = to.open[to.depth++] = kept;
        }
    }
    *n_open = to.depth;
    return to.out - (struct file_event *)out;
}
