#ifndef TIME_ORDER_H
#define TIME_ORDER_H
#include <stdint.h>

/* A row and its time. */
struct timed_row {
    int64_t time;
    int64_t row;
};

/* Sort by time, equal ones in their order; `part` has room for n / 2. What is in order already costs a look. */
void time_order(struct timed_row *rows, int64_t n, struct timed_row *part);

#endif
