#ifndef MERGE_RUNS_H
#define MERGE_RUNS_H
#include <stdint.h>

/* The same as lane_merge, for many runs. */
int64_t merge_many_runs(const char *records, const int64_t *offsets, int64_t runs, int64_t record_bytes, char *out);

#endif
