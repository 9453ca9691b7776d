#ifndef MERGE_RUNS_H
#define MERGE_RUNS_H
#include <stdint.h>

/* Merge runs as lane_merge does; fast for thousands of runs. Returns -1 if there is no memory. */
int64_t merge_many_runs(const char *records, const int64_t *offsets, int64_t runs, int64_t record_bytes, char *out);

#endif
