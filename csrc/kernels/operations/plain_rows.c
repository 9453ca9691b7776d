/* Checks if rows say everything about their operations, or other tables must be read. */
#include "operations/plain_rows.h"

#include <stdbool.h>

#include "records.h"
#include "rows/inline/ticks.h"

static bool marks_any(const struct lane *lane, const uint8_t *marked)
{
    uint8_t any = 0;
    for (int64_t i = 0; i < lane->n_procedures; i++) any |= marked[lane->procedures[i].index];
    return any;
}

static bool name_a_marked_one(const struct lane *lane, const struct thread_rows *rows, const uint8_t *marked)
{
    const struct file_call *calls = rows->calls;
    const struct file_poll *polls = rows->polls;
    uint8_t any = 0;
    for (int64_t i = 0; i < rows->n_calls; i++) any |= marked[lane_procedure(lane, calls[i].call)->index];
    for (int64_t i = 0; i < rows->n_polls; i++) any |= marked[lane_procedure(lane, polls[i].call)->index];
    return any;
}

static bool start_collectives(const struct thread_rows *rows)
{
    const struct file_request *requests = rows->requests;
    bool any = false;
    for (int64_t i = 0; i < rows->n_requests; i++) any |= requests[i].what == WHAT_COLLECTIVE_STARTED;
    return any;
}

int32_t rows_are_plain(const struct lane *lane, const struct thread_rows *rows, const uint8_t *marked)
{
    if (marks_any(lane, marked) && name_a_marked_one(lane, rows, marked)) return 0;
    return !start_collectives(rows);
}

int64_t rows_posted_from(const struct lane *lane, const struct thread_rows *rows)
{
    const struct file_request *requests = rows->requests;
    uint64_t least = UINT64_MAX;
    for (int64_t i = 0; i < rows->n_requests; i++)
        if (requests[i].posted < least) least = requests[i].posted;
    return rows->n_requests ? lane_ns(lane, least) : INT64_MAX;
}
