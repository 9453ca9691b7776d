/* Chooses and orders rows of requests. They come in the order of completion, which is nearly that of posting. */
#include "rows/requests.h"

#include <stdlib.h>

#include "records.h"
#include "rows/inline/time_order.h"

static int64_t request_order_time(const struct trace_request *row, int by_completed)
{
    return by_completed ? row->completed : row->posted;
}

/* Return true if the rows are in order. */
static int requests_are_ordered(const struct trace_request *rows, int64_t n, int by_completed)
{
    int64_t k = 1;
    while (k < n && request_order_time(&rows[k - 1], by_completed) <= request_order_time(&rows[k], by_completed)) k++;
    return k >= n;
}

/* Write the wanted rows in order; 0: no memory. */
static int sort_requests(const struct trace_request *row, int64_t n, const uint8_t *wanted, int64_t least,
                         int by_completed, int64_t count, struct trace_request *out)
{
    struct timed_row *order = malloc((size_t)(count + count / 2) * sizeof *order);
    if (!order) return 0;
    int64_t found = 0;
    for (int64_t k = 0; k < n; k++)
        if (wanted[row[k].what] && row[k].posted >= least)
            order[found++] = (struct timed_row){request_order_time(&row[k], by_completed), k};
    time_order(order, count, order + count);
    for (int64_t k = 0; k < count; k++) out[k] = row[order[k].row];
    free(order);
    return 1;
}

int64_t requests_pick(const void *rows, int64_t n, const uint8_t *wanted, int64_t least, int32_t by_completed,
                      void *out)
{
    const struct trace_request *row = rows;
    struct trace_request *to = out;
    int64_t count = 0;
    for (int64_t k = 0; k < n; k++)
        if (wanted[row[k].what] && row[k].posted >= least) to[count++] = row[k];
    if (requests_are_ordered(to, count, by_completed)) return count;
    return sort_requests(row, n, wanted, least, by_completed, count, to) ? count : -1;
}

int64_t requests_pick_each(const void *rows, const int64_t *cuts, int64_t n, const uint8_t *wanted,
                           int32_t by_completed, int64_t *counts, void *out)
{
    const struct trace_request *row = rows;
    struct trace_request *to = out;
    for (int64_t k = 0; k < n; k++) {
        counts[k] = requests_pick(row + cuts[k], cuts[k + 1] - cuts[k], wanted, INT64_MIN, by_completed, to);
        if (counts[k] < 0) return -1;
        to += counts[k];
    }
    return to - (struct trace_request *)out;
}
