#ifndef THREAD_ROWS_H
#define THREAD_ROWS_H
#include <stdint.h>

/* The rows of one thread in a window of time: struct file_call, file_poll, file_request.

   late: struct trace_request, posted in the window and completed after it, in order of posting.
   begin: of the window, in ns, and begin_ticks: the first tick of that time.
   end: of the rank (ns), in its last window; else -1. */
struct thread_rows {
    const void *calls, *polls, *requests, *late;
    int64_t n_calls, n_polls, n_requests, n_late;
    int64_t begin, end;
    uint64_t begin_ticks;
};

#endif
