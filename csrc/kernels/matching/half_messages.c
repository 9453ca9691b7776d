/* The sends and receives among the rows of a thread. */
#include "matching/half_messages.h"
#include "records.h"
#include "rows/inline/ticks.h"

static struct half call_half(const struct lane *lane, const struct file_call *row, uint64_t bytes)
{
    return (struct half){
        .posted = lane_ns(lane, row->enter),
        .completed = lane_ns(lane, row->exit),
        .bytes = (int64_t)bytes,
        .peer = lane_world(lane, row->comm, row->peer),
        .tag = row->tag,
        .comm = lane_communicator_index(lane, row->comm),
        .thread = lane->thread,
        .call = lane_procedure(lane, row->call)->index,
    };
}

static unsigned what_of(const struct file_request *row)
{
    return row->what & ((1u << WHAT_ORDINAL_SHIFT) - 1);
}

/* A receive whose request was freed while it was active has taken a message, too, at a time that nobody knows. Of
   MPI_ANY_SOURCE or MPI_ANY_TAG nobody knows which. */
static int is_receive(const struct file_request *row)
{
    unsigned what = what_of(row);
    if (row->peer < 0 || (what == WHAT_RECV_FREED && row->tag < 0)) return 0;
    return what == WHAT_RECV_DONE || what == WHAT_RECEIVED || what == WHAT_RECV_FREED ||
           what == WHAT_PARTITIONED_RECV_DONE;
}

/* Partitioned operations never match ordinary ones, and find their partners by the order in which they were made. */
static int32_t channel_of_request(const struct file_request *row)
{
    unsigned what = what_of(row);
    int partitioned = what == WHAT_PARTITIONED_SEND_STARTED || what == WHAT_PARTITIONED_RECV_DONE;
    return partitioned ? 1 + (row->what >> WHAT_ORDINAL_SHIFT) : 0;
}

static struct half request_half(const struct lane *lane, const struct file_request *row)
{
    return (struct half){
        .posted = lane_ns(lane, row->posted),
        .completed = row->completed && what_of(row) != WHAT_RECV_FREED ? lane_ns(lane, row->completed) : 0,
        .bytes = (int64_t)row->bytes,
        .peer = lane_world(lane, row->comm, row->peer),
        .tag = row->tag,
        .comm = lane_communicator_index(lane, row->comm),
        .thread = lane->thread,
        .call = -1,
        .channel = channel_of_request(row),
    };
}

static int is_send(const struct lane *lane, const struct file_call *row)
{
    return row->peer >= 0 && lane_procedure(lane, row->call)->role == ROLE_SEND;
}

static int starts_send(const struct file_request *row)
{
    unsigned what = what_of(row);
    return row->peer >= 0 && (what == WHAT_SEND_STARTED || what == WHAT_PARTITIONED_SEND_STARTED);
}

int64_t match_sends(const struct lane *lane, const void *calls, int64_t n_calls, const void *requests,
                    int64_t n_requests, struct half *sends)
{
    const struct file_call *call = calls, *call_end = call + n_calls;
    const struct file_request *start = requests, *start_end = start + n_requests;
    struct half *out = sends;
    for (;;) {
        while (call < call_end && !is_send(lane, call)) call++;
        while (start < start_end && !starts_send(start)) start++;
        if (call == call_end && start == start_end) return out - sends;
        if (start == start_end || (call < call_end && call->enter <= start->posted)) {
            *out++ = call_half(lane, call, call->sent);
            call++;
        } else {
            *out++ = request_half(lane, start++);
        }
    }
}

int64_t match_receives(const struct lane *lane, const void *calls, int64_t n_calls, const void *requests,
                       int64_t n_requests, int64_t begin, int64_t end, struct half *receives)
{
    struct half *out = receives;
    const struct file_call *call = calls;
    for (int64_t i = 0; i < n_calls; i++)
        if (call[i].peer >= 0 && lane_procedure(lane, call[i].call)->role == ROLE_RECEIVE)
            *out++ = call_half(lane, &call[i], call[i].received);
    const struct file_request *row = requests;
    for (int64_t i = 0; i < n_requests; i++) {
        if (!is_receive(&row[i])) continue;
        *out = request_half(lane, &row[i]);
        out += out->posted >= begin && out->posted < end;
    }
    return out - receives;
}

void match_names(const struct lane *lane, const void *calls, int64_t n_calls, struct half *halves, int64_t n)
{
    const struct file_call *call = calls, *end = call + n_calls;
    for (int64_t i = 0; i < n; i++) {
        if (halves[i].call >= 0) continue;
        while (call < end && lane_ns(lane, call->enter) < halves[i].posted) call++;
        if (call == end) return;
        if (lane_ns(lane, call->enter) == halves[i].posted) halves[i].call = lane_procedure(lane, call->call)->index;
    }
}

int match_belongs_to_posting(const void *request)
{
    const struct file_request *row = request;
    return what_of(row) == WHAT_SEND_CANCELLED || is_receive(row);
}

int64_t match_late(const void *requests, int64_t n, uint64_t edge, void *late)
{
    const struct file_request *row = requests;
    struct file_request *out = late;
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++) {
        if (row[i].posted >= edge || !match_belongs_to_posting(&row[i])) continue;
        if (out) out[found] = row[i];
        found++;
    }
    return found;
}

int match_cancels(const void *requests, int64_t n)
{
    const struct file_request *row = requests;
    for (int64_t i = 0; i < n; i++)
        if (what_of(&row[i]) == WHAT_SEND_CANCELLED) return 1;
    return 0;
}
