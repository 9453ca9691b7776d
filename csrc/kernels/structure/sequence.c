/* Calls as a sequence of symbols: see sequence.h. */
#include "structure/sequence.h"

#include <math.h>

#include "records.h"

static uint64_t mixed(uint64_t key, int64_t column)
{
    key = (key ^ (uint64_t)column) * 0x9E3779B97F4A7C15;
    return key ^ key >> 29;
}

/* The length of a message by powers of two. */
static int64_t length_of(const struct trace_call *call)
{
    int exponent;
    frexp((double)(call->sent > call->received ? call->sent : call->received), &exponent);
    return exponent;
}

/* From what tells most apart to what tells least. Where a path is known, the root of a collective does not count: many
   loops take the ranks in turn as roots. Nor does a communicator there, in the last one: it may be made anew. */
static void put_keys(const struct trace_call *call, int64_t path, int kind, int64_t at,
                     const struct sequence_columns *to)
{
    int waits = kind & SEQUENCE_WAITS, takes_turns = path && kind & SEQUENCE_ROOTED;
    uint64_t place = mixed(mixed(0, call->call), path), on_comm = mixed(place, call->comm);
    uint64_t with_peer = mixed(on_comm, waits || takes_turns ? -1 : call->peer);
    to->keys[0][at] = mixed(with_peer, waits ? 0 : length_of(call));
    to->keys[1][at] = with_peer;
    to->keys[2][at] = path ? place : on_comm;
}

int64_t sequence_calls(struct sequence_state *state, const void *calls, const int64_t *paths, const int64_t *cpu,
                       int64_t n, int64_t thread, const uint8_t *kinds, const struct sequence_columns *to)
{
    const struct trace_call *call = calls;
    struct sequence_state s = *state;
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++, call++) {
        if (call->thread != thread) continue;
        uint8_t kind = kinds[call->call];
        int64_t burst = cpu ? cpu[i] : s.seen ? call->enter - s.out : 0;
        if (burst > 0) s.burst = (int64_t)((uint64_t)s.burst + (uint64_t)burst); /* a damaged file may say anything */
        if (kind & SEQUENCE_LOOKS) s.clocks = (int32_t)((uint32_t)s.clocks + (uint32_t)call->count);
        if (!s.seen++) s.first = call->enter;
        if (kind & SEQUENCE_INIT && !s.has_init) {
            s.has_init = 1;
            s.init = call->exit;
        }
        if (kind & SEQUENCE_KEPT) {
            int64_t path = paths ? paths[i] : 0;
            to->enter[kept] = call->enter;
            to->exit[kept] = call->exit;
            to->left[kept] = s.left;
            to->burst[kept] = s.burst;
            to->path[kept] = path;
            to->clocks[kept] = s.clocks;
            to->call[kept] = call->call;
            put_keys(call, path, kind, kept, to);
            kept++;
            s.burst = 0;
        }
        s.last = call->enter;
        s.left = call->exit;
        s.out = call->enter + call->inside + call->tracer;
    }
    *state = s;
    return kept;
}
