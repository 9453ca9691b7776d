#ifndef VIEWS_MERGE_H
#define VIEWS_MERGE_H
#include <stdint.h>

/* Merge the steps of k views of the same rows into steps with k values. Those of view v and row r begin at first[v *
   (rows + 1) + r] and end at the next element of `first`, in order of time. now: (rows, k), the values before; moved
   on. Of several steps at one time the last counts. out_row, out_time: room for all steps; out_values: k for each.
   Returns the number of steps written. */
int64_t merge_steps(int64_t k, int64_t rows, const int64_t *first, const int64_t *time, const double *value,
                    double *now, int64_t *out_row, int64_t *out_time, double *out_values);

/* Largest number of views. */
enum { MERGE_MOST = 8 };

#endif
