/* Merges several views of the same rows. */
#include "views/merge.h"
#include <string.h>

int64_t merge_steps(int64_t k, int64_t rows, const int64_t *first, const int64_t *time, const double *value,
                    double *now, int64_t *out_row, int64_t *out_time, double *out_values)
{
    int64_t written = 0, at[MERGE_MOST], end[MERGE_MOST];
    for (int64_t row = 0; row < rows; row++) {
        double *values = now + row * k;
        for (int64_t v = 0; v < k; v++) {
            at[v] = first[v * (rows + 1) + row];
            end[v] = first[v * (rows + 1) + row + 1];
        }
        for (;;) {
            int64_t next = INT64_MAX;
            for (int64_t v = 0; v < k; v++)
                if (at[v] < end[v] && time[at[v]] < next) next = time[at[v]];
            if (next == INT64_MAX) break;
            for (int64_t v = 0; v < k; v++)
                while (at[v] < end[v] && time[at[v]] == next) values[v] = value[at[v]++];
            out_row[written] = row;
            out_time[written] = next;
            memcpy(out_values + written++ * k, values, (size_t)k * sizeof *values);
        }
    }
    return written;
}
