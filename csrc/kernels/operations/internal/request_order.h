#ifndef REQUEST_ORDER_H
#define REQUEST_ORDER_H
/* Requests of one thread in order of posting or of completion, made a few at a time of the rows of its file. */

#include "operations/internal/op_walk.h"
#include "rows/inline/row_records.h"
#include "rows/inline/time_order.h"

enum { REQUESTS_AT_ONCE = 32 };

/* Rows of a window of time; those that were left over of the windows before come first. */
struct request_order {
    struct request_source source; /* what is read of them */
    struct row_reader reader;
    const struct file_request *rows;
    const uint8_t *wanted; /* by `what` */
    bool by_completed;
    int64_t n, at, least;                   /* those posted at `least` or later */
    const struct trace_request *late, *end; /* in order, to be merged in: of equal ones they come last */
    struct timed_row *order;                /* of those wanted; not used where they lie in order */
    int64_t order_room;
    bool is_sorted;
    struct trace_request *rest;
    int64_t n_rest, rest_at, rest_room;
    struct trace_request read[REQUESTS_AT_ONCE];
};

/* The rows of the next window; false: no memory. least_ticks: the first whose time is `least`. */
bool request_order_rows(struct request_order *order, const struct file_request *rows, int64_t n, int64_t least,
                        uint64_t least_ticks);

/* The window is over: what nobody took is kept. false: no memory. */
bool request_order_keep(struct request_order *order);

/* Of the next rank. */
void request_order_begin(struct request_order *order, const struct lane *lane);
void request_order_free(struct request_order *order);

#endif
