#ifndef TIME_ORDER_H
#define TIME_ORDER_H
#include <stdint.h>

/* A row and its time. */
struct timed_row {
    int64_t time;
    int64_t row;
};

/* Sort n rows by time; rows of the same time keep their order. part: work space for n / 2 rows. Rows that are sorted
   already cost one pass. */
void time_order(struct timed_row *rows, int64_t n, struct timed_row *part);

#endif
