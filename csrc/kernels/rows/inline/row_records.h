#ifndef ROW_RECORDS_H
#define ROW_RECORDS_H
/* Makes records of the trace from rows of a rank file, one at a time. */

#include <stdbool.h>

#include "records.h"
#include "rows/inline/ticks.h"

/* State for reading the rows of a lane one after the other. Consecutive rows rarely leave a piece of the clock or a
   communicator, so the last ones are kept. */
struct row_reader {
    const struct lane *lane;
    struct last_piece ticks, ns;
    int64_t comm;       /* row of `communicators` that index and group belong to; -1: none */
    int32_t index;      /* in Trace.communicators */
    struct group group; /* group in which peers are counted */
};

/* Return a reader for the rows of a lane. The lane must outlive it. */
static inline struct row_reader row_reader(const struct lane *lane)
{
    return (struct row_reader){.lane = lane, .comm = -1};
}

/* Convert ticks to corrected ns, as lane_ns. */
static inline int64_t row_ns(struct row_reader *reader, uint64_t ticks)
{
    const struct clock *c = &reader->lane->clock;
    int64_t ns = clock_value_near(&reader->ticks, c->pieces, c->n_pieces, ticks);
    return c->n_corrections ? clock_value_near(&reader->ns, c->corrections, c->n_corrections, (uint64_t)ns) : ns;
}

/* Make row `comm` the communicator of the reader. */
static inline void row_comm(struct row_reader *reader, uint32_t comm)
{
    if (__builtin_expect(reader->comm == comm, 1)) return;
    reader->comm = comm;
    reader->index = lane_communicator_index(reader->lane, comm);
    lane_group(reader->lane, comm, &reader->group);
}

/* Return the part of a call's time that is spent in MPI: 0 for a reading of the clock, which is the program's own. */
static inline int64_t inside_mpi(const struct procedure *procedure, int64_t time)
{
    return procedure->role == ROLE_CLOCK ? 0 : time;
}

/* Return true if a run of clock readings waits for a time: they follow each other at once, with less than 1.5 times
   the tracer's own time between them. between: ns that the tracer alone takes; apart: ns that they are apart. */
static inline bool waits_for_a_time(const struct procedure *procedure, int64_t between, int64_t apart)
{
    return procedure->role == ROLE_CLOCK && 2 * apart < 3 * between;
}

/* Return how long (ns) the tracer holds the thread in `count` calls of one row, which took `inside` ns of the row's
   `length`. The tracer takes its time after each call, but between two calls at most the time that they were apart.
   A program that waits for a time does not wait longer because of the tracer, so then only the time after the last
   call counts. */
static inline int64_t held_by_tracer(const struct row_reader *reader, const struct procedure *procedure, int64_t count,
                                     int64_t inside, int64_t length)
{
    int64_t between = (count - 1) * reader->lane->overhead, apart = length - inside;
    if (waits_for_a_time(procedure, between, apart)) between = 0;
    return (between < apart ? between : apart) + reader->lane->overhead;
}

/* Return the record of a call with procedure and times, without its communication. */
static inline struct trace_call bare_call_record(struct row_reader *reader, const struct file_call *row)
{
    int64_t enter = row_ns(reader, row->enter), exit = row_ns(reader, row->exit);
    const struct procedure *procedure = lane_procedure(reader->lane, row->call);
    return (struct trace_call){
        .enter = enter,
        .exit = exit,
        .call = procedure->index,
        .thread = reader->lane->thread,
        .count = 1,
        .inside = inside_mpi(procedure, exit - enter),
        .tracer = reader->lane->overhead,
    };
}

/* Fill in what the call communicates. */
static inline void tell_message(struct row_reader *reader, const struct file_call *row, struct trace_call *call)
{
    row_comm(reader, row->comm);
    call->sent = (int64_t)row->sent;
    call->received = (int64_t)row->received;
    call->comm = reader->index;
    call->peer = group_rank(&reader->group, row->peer);
    call->tag = row->tag;
}

/* Return the record of a call. */
static inline struct trace_call call_record(struct row_reader *reader, const struct file_call *row)
{
    struct trace_call call = bare_call_record(reader, row);
    tell_message(reader, row, &call);
    return call;
}

/* Return the record of a run of failing polls. */
static inline struct trace_call poll_record(struct row_reader *reader, const struct file_poll *row)
{
    int64_t enter = row_ns(reader, row->enter), exit = row_ns(reader, row->exit);
    const struct procedure *procedure = lane_procedure(reader->lane, row->call);
    int64_t inside = row_ns(reader, row->enter + row->inside) - enter, length = exit > enter ? exit - enter : 0;
    if (inside > length) inside = length; /* of a damaged file */
    return (struct trace_call){
        .enter = enter,
        .exit = exit,
        .comm = -1,
        .peer = PEER_NONE,
        .tag = -1,
        .call = procedure->index,
        .thread = reader->lane->thread,
        .count = (int32_t)row->count,
        .inside = inside_mpi(procedure, inside),
        .tracer = held_by_tracer(reader, procedure, row->count, inside, length),
    };
}

/* Return the tag of a request; for a collective the index of its procedure in Trace.procedures. */
static inline int32_t request_tag(const struct lane *lane, const struct file_request *row)
{
    bool collective = row->what == WHAT_COLLECTIVE_DONE || row->what == WHAT_COLLECTIVE_STARTED;
    if (!collective || row->tag < 0) return row->tag;
    return lane_procedure(lane, row->tag < UINT16_MAX ? (uint16_t)row->tag : UINT16_MAX)->index;
}

/* Write the record of a request to `to`. */
static inline void request_record(struct row_reader *reader, const struct file_request *row, struct trace_request *to)
{
    row_comm(reader, row->comm);
    to->posted = row_ns(reader, row->posted);
    to->completed = row->completed ? row_ns(reader, row->completed) : 0;
    to->bytes = (int64_t)row->bytes;
    to->comm = reader->index;
    to->peer = group_rank(&reader->group, row->peer);
    to->tag = request_tag(reader->lane, row);
    to->what = row->what;
    to->thread = row->thread;
    to->reserved = 0;
}

#endif
