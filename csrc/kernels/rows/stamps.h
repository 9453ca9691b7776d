#ifndef STAMPS_H
#define STAMPS_H
#include <stdint.h>

/* Faults of a row's time stamps. analyzer.recording.rank_file.stamps.FAULTS has their texts. */
enum stamp_fault {
    STAMP_BEFORE_START,
    STAMP_AFTER_END,
    STAMP_REVERSED,    /* it ends before it begins */
    STAMP_BACKWARDS,   /* it begins before the row ahead of it ended */
    STAMP_INSIDE_LONG, /* more time inside MPI than it lasted */
    STAMP_NO_CALL,     /* it stands for no call */
    STAMP_FAULTS
};

/* State of the check of one table of one thread, whose consecutive rows are checked a few at a time. */
struct stamps {
    uint64_t start, stop; /* begin and end of the process, in ticks */
    uint64_t latest;      /* ticks: end of the row before the next one */
    uint64_t
        slack; /* ticks that a row may go backwards without a fault: CPUs may read the counter a little differently */
    int64_t faults[6]; /* number of rows with each fault, by enum stamp_fault */
    int64_t first;     /* index of the first faulty row among the rows checked last; their number if there is none */
};

/* Check the time stamps of the next n rows of one table: add the faults to `faults`, and set `first`. The rows are
   struct file_call, file_request, file_poll, file_event, file_access and file_summary. Requests are in order of
   completion, or of posting where they did not complete. Of summaries only the begins are in order. */
void stamps_of_calls(struct stamps *stamps, const void *rows, int64_t n);
void stamps_of_requests(struct stamps *stamps, const void *rows, int64_t n);
void stamps_of_polls(struct stamps *stamps, const void *rows, int64_t n);
void stamps_of_events(struct stamps *stamps, const void *rows, int64_t n);
void stamps_of_accesses(struct stamps *stamps, const void *rows, int64_t n);
void stamps_of_summaries(struct stamps *stamps, const void *rows, int64_t n);

#endif
