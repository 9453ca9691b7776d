#ifndef STAMPS_H
#define STAMPS_H
#include <stdint.h>

/* What a row's time stamps cannot be; analyzer.recording.rank_file.stamps.FAULTS says it in words. */
enum stamp_fault {
    STAMP_BEFORE_START,
    STAMP_AFTER_END,
    STAMP_REVERSED,    /* it ends before it begins */
    STAMP_BACKWARDS,   /* it begins before the row ahead of it ended */
    STAMP_INSIDE_LONG, /* more time inside MPI than it lasted */
    STAMP_NO_CALL,     /* it stands for no call */
    STAMP_FAULTS
};

/* One table of one thread, looked at a few consecutive rows at a time. */
struct stamps {
    uint64_t start, stop; /* of the process's life, in ticks */
    uint64_t latest;      /* the row before the next one ended then */
    uint64_t slack;       /* so many ticks backwards are no fault: CPUs may read the counter a little differently */
    int64_t faults[6];    /* rows that have each */
    int64_t first;        /* in the rows looked at last: the first one at fault, or their number */
};

void stamps_of_calls(struct stamps *stamps, const void *rows, int64_t n);
void stamps_of_requests(struct stamps *stamps, const void *rows, int64_t n);
void stamps_of_polls(struct stamps *stamps, const void *rows, int64_t n);
void stamps_of_events(struct stamps *stamps, const void *rows, int64_t n);
void stamps_of_accesses(struct stamps *stamps, const void *rows, int64_t n);
void stamps_of_summaries(struct stamps *stamps, const void *rows, int64_t n);

#endif
