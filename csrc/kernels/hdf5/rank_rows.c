/* Rows of a table read where its chunks lie. */
#include "hdf5/internal/read_whole.h"
#include "hdf5/rank_file.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rows that follow each other, of chunks that lie side by side at once. */
static int read_run(int fd, const int64_t *at, int64_t chunk_rows, int64_t row_bytes, int64_t first, int64_t last,
                    char *into)
{
    while (first < last) {
        int64_t chunk = first / chunk_rows, place = at[chunk] + first % chunk_rows * row_bytes;
        int64_t stop = least(last, ++chunk * chunk_rows);
        while (stop < last && at[chunk] == at[chunk - 1] + chunk_rows * row_bytes)
            stop = least(last, ++chunk * chunk_rows);
        int64_t bytes = (stop - first) * row_bytes;
        int answer = read_whole(fd, into, (uint64_t)bytes, place);
        if (answer != 1) return answer;
        into += bytes;
        first = stop;
    }
    return 1;
}

int rank_file_rows(int fd, const int64_t *at, int64_t chunk_rows, int64_t row_bytes, int64_t first, int64_t last,
                   int64_t step, void *into)
{
    if (step == 1) return read_run(fd, at, chunk_rows, row_bytes, first, last, into);
    char *to = into;
    for (; first < last; first += step, to += row_bytes) {
        int answer = read_run(fd, at, chunk_rows, row_bytes, first, first + 1, to);
        if (answer != 1) return answer;
    }
    return 1;
}
