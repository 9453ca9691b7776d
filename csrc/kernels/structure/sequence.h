#ifndef STRUCTURE_SEQUENCE_H
#define STRUCTURE_SEQUENCE_H
#include <stdint.h>

enum { SEQUENCE_DETAILS = 3 };

/* Properties of a procedure in a sequence of calls, as bits. */
enum sequence_kind {
    SEQUENCE_KEPT = 1,  /* it is part of the sequence */
    SEQUENCE_WAITS = 2, /* its waiting is not its own */
    SEQUENCE_LOOKS = 4, /* it looks at the clock */
    SEQUENCE_INIT = 8,
    SEQUENCE_ROOTED = 16 /* its partner is the root of a collective */
};

/* State of a thread up to now; times in ns. seen: number of calls. first, last: entry of the first and of the last
   call. left, out: end of the last call, without and with the tracer's time after it. burst: computation since the
   last call that was kept. init: end of the first MPI_Init, if has_init. clocks: number of clock readings. All are 0
   at first; `left` is the value for the first call. */
struct sequence_state {
    int64_t seen, first, last, left, out, burst, init;
    int32_t clocks, has_init;
};

/* Columns of the calls that are kept, which the caller owns, with room for all calls. */
struct sequence_columns {
    int64_t *enter, *exit, *left, *burst, *path;
    int32_t *clocks, *call;
    uint64_t
        *keys[SEQUENCE_DETAILS]; /* equal keys are the same call: see analyzer.structure.calls.sequence.SymbolDetail */
};

/* Take n calls (struct trace_call) of a rank in order of entry, and write those of `thread` that are kept. paths:
   (n), the path of each call, or NULL. cpu: (n), ns of CPU time before each call, used instead of the elapsed time
   (0 or less: not read), or NULL. Before a thread's first call there is no computation. kinds: bits of enum
   sequence_kind by procedure. Returns the number of calls kept. */
int64_t sequence_calls(struct sequence_state *state, const void *calls, const int64_t *paths, const int64_t *cpu,
                       int64_t n, int64_t thread, const uint8_t *kinds, const struct sequence_columns *to);

#endif
