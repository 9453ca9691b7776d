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

/* Begin the next window with n rows. least: requests posted earlier (ns) are skipped; least_ticks: the first tick of
   that time. Returns false if there is no memory. */
bool request_order_rows(struct request_order *order, const struct file_request *rows, int64_t n, int64_t least,
                        uint64_t least_ticks);

/* End the window, and keep the requests that were not taken. Returns false if there is no memory. */
bool request_order_keep(struct request_order *order);

/* Begin the next rank. */
void request_order_begin(struct request_order *order, const struct lane *lane);

/* Free the memory of the order. */
void request_order_free(struct request_order *order);

#endif
