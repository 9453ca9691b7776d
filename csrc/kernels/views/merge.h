#ifndef VIEWS_MERGE_H
#define VIEWS_MERGE_H
#include <stdint.h>

/* Steps of k views of the same rows as those of one with k values. Those of view v and row r lie from
   first[v * (rows + 1) + r] until the next of `first`, in order of time. `now` (k for each row) has the values before,
   and gets those behind. Of several steps at one time the last counts. Returns how many are written. */
int64_t merge_steps(int64_t k, int64_t rows, const int64_t *first, const int64_t *time, const double *value,
                    double *now, int64_t *out_row, int64_t *out_time, double *out_values);

/* How many views there may be. */
enum { MERGE_MOST = 8 };

#endif
