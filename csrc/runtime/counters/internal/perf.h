/* Helpers of all files that open perf events. */
#ifndef PERF_H
#define PERF_H

/* Why the kernel refuses an event, for the user. */
const char *perf_reason(int error);

#endif
