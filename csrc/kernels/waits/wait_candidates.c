/* Makes candidates of messages: the receiving side may have waited for the send, the sending side for the receive. */
#include "waits/wait_candidates.h"

#include "records.h"

/* The messages that a lane received of those sent so far: the latest completion among messages sent before `sent`,
   and among all. Of messages sent at one time none was there before the other. */
struct received {
    int64_t sent;
    int64_t before, all;
};

static int32_t lane_of(const int64_t *first_lane, int32_t rank, int32_t thread)
{
    int64_t lane = first_lane[rank] + thread;
    return (int32_t)(lane < first_lane[rank + 1] ? lane : first_lane[rank + 1] - 1);
}

static int64_t received_before(struct received *r, const struct trace_message *m)
{
    if (m->logical_send != r->sent) {
        r->sent = m->logical_send;
        r->before = r->all;
    }
    if (m->physical_receive > r->all) r->all = m->physical_receive;
    return r->before;
}

int64_t waits_candidates(const void *messages, int64_t n, const int64_t *first_lane, int64_t low, int64_t high,
                         int probes, int64_t *received, struct wait_candidate *out)
{
    const struct trace_message *all = messages;
    struct wait_candidate *to = out;
    for (const struct trace_message *m = all; m < all + n; m++) {
        int32_t source = lane_of(first_lane, m->source, m->source_thread);
        int32_t target = lane_of(first_lane, m->destination, m->destination_thread);
        if (source == target) continue;
        if (target >= low && target < high) {
            int64_t before = received_before((struct received *)received + target, m);
            struct wait_candidate late = {
                m->physical_receive, m->logical_send, before, m->logical_receive, target, source, WAITS_LATE_SENDER,
                m->source,           (int32_t)m->tag, 0};
            if (late.until > late.posted) *to++ = late;
            if (probes) {
                late.complete = m->logical_receive + 1;
                late.kind = WAITS_PROBED;
                *to++ = late;
            }
        }
        if (source >= low && source < high && m->logical_receive > m->logical_send)
            *to++ = (struct wait_candidate){
                m->logical_send, m->logical_receive, 0, m->logical_send, source, target, WAITS_SENT,
                m->destination,  (int32_t)m->tag,    0};
    }
    return to - out;
}
