#ifndef STRUCTURE_SEQUENCE_H
#define STRUCTURE_SEQUENCE_H
#include <stdint.h>

enum { SEQUENCE_DETAILS = 3 };

/* What a procedure is to a sequence of calls, bits. */
enum sequence_kind {
    SEQUENCE_KEPT = 1,  /* it is part of the sequence */
    SEQUENCE_WAITS = 2, /* what it waited for is not its own */
    SEQUENCE_LOOKS = 4, /* it looks at the clock */
    SEQUENCE_INIT = 8,
    SEQUENCE_ROOTED = 16 /* its partner is the root of a collective */
};

/* A thread's calls up to now. `seen`: how many of any kind; `first`, `last`: when it entered the first and the last of
   them; `left`, `out`: when it came out of the last one, without what the tracer then did and with it; `burst`: what it
   computed since the last one that was kept, ns; `init`: end of the first MPI_Init, if `has_init`; `clocks`: looks at
   the clock. All begin as 0, `left` as what the first call shall have. */
struct sequence_state {
    int64_t seen, first, last, left, out, burst, init;
    int32_t clocks, has_init;
};

/* Columns of the calls that are kept. */
struct sequence_columns {
    int64_t *enter, *exit, *left, *burst, *path;
    int32_t *clocks, *call;
    uint64_t *keys[SEQUENCE_DETAILS]; /* equal ones are the same call: see analyzer.structure.calls.sequence.Detail */
};

/* Takes n calls (struct trace_call) of a rank in order of entry, of which those of `thread` count. `paths`: NULL, or
   where each comes from; `cpu`: NULL, or the CPU time before each, instead of the time that passed; 0 or less: not
   read. Of a thread's first call nothing was computed before it. `kinds`: bits of enum sequence_kind by procedure.
   Returns how many are kept. */
int64_t sequence_calls(struct sequence_state *state, const void *calls, const int64_t *paths, const int64_t *cpu,
                       int64_t n, int64_t thread, const uint8_t *kinds, const struct sequence_columns *to);

#endif
