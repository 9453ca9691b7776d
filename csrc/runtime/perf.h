/* What all that open perf events need. */
#ifndef PERF_H
#define PERF_H

/* Why the kernel refuses an event, for the user. */
const char *perf_reason(int error);

/* High, where a program that closes all descriptors and opens its own does not come: a stranger's must not be read. */
int perf_out_of_the_way(int fd);

#endif
