#ifndef ROW_RECORDS_H
#define ROW_RECORDS_H
/* The record of the trace that a row of a rank file stands for. */

#include <stdbool.h>

#include "records.h"
#include "ticks.h"

static inline struct trace_call call_record(const struct lane *lane, const struct file_call *row)
{
    int64_t enter = lane_ns(lane, row->enter), exit = lane_ns(lane, row->exit);
    return (struct trace_call){
        .enter = enter,
        .exit = exit,
        .sent = (int64_t)row->sent,
        .received = (int64_t)row->received,
        .comm = lane_communicator_index(lane, row->comm),
        .peer = lane_world(lane, row->comm, row->peer),
        .tag = row->tag,
        .call = lane_procedure(lane, row->call)->index,
        .thread = lane->thread,
        .count = 1,
        .inside = exit - enter,
    };
}

static inline struct trace_call poll_record(const struct lane *lane, const struct file_poll *row)
{
    int64_t enter = lane_ns(lane, row->enter);
    return (struct trace_call){
        .enter = enter,
        .exit = lane_ns(lane, row->exit),
        .comm = -1,
        .peer = PEER_NONE,
        .tag = -1,
        .call = lane_procedure(lane, row->call)->index,
        .thread = lane->thread,
        .count = (int32_t)row->count,
        .inside = lane_ns(lane, row->enter + row->inside) - enter,
    };
}

/* Of collectives `tag` is their procedure. */
static inline int32_t request_tag(const struct lane *lane, const struct file_request *row)
{
    bool collective = row->what == WHAT_COLLECTIVE_DONE || row->what == WHAT_COLLECTIVE_STARTED;
    if (!collective || row->tag < 0) return row->tag;
    return lane_procedure(lane, row->tag < UINT16_MAX ? (uint16_t)row->tag : UINT16_MAX)->index;
}

static inline struct trace_request request_record(const struct lane *lane, const struct file_request *row)
{
    return (struct trace_request){
        .posted = lane_ns(lane, row->posted),
        .completed = row->completed ? lane_ns(lane, row->completed) : 0,
        .bytes = (int64_t)row->bytes,
        .comm = lane_communicator_index(lane, row->comm),
        .peer = lane_world(lane, row->comm, row->peer),
        .tag = request_tag(lane, row),
        .what = row->what,
        .thread = row->thread,
    };
}

#endif
