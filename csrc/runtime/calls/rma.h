/* Windows and one-sided operations. Contract: frame.h. */
#ifndef RMA_H
#define RMA_H

#include "calls/data_bytes.h"
#include "calls/frame.h"
#include "handles/objects.h"

/* Access of a call to a window or a file, and its place there. */
struct access {
    const struct object *object; /* NULL: made where we did not see it */
    uint64_t sent, received;     /* bytes */
    int64_t offset;              /* bytes; -1: not known */
    int32_t peer;
    uint16_t detail;
};

/* Store the call's row, and that of its access; of a call that failed the first only. */
void record_access(const struct frame *f, struct access a);

/* The call freed a window or closed a file. */
void record_object_freed(const struct frame *f, const struct object *object);

/* How a window was made: flags of its row of `objects`, as the standard numbers its flavours. */
enum window_flavor { WINDOW_CREATE = 1, WINDOW_ALLOCATE, WINDOW_DYNAMIC, WINDOW_SHARED };
void record_win_created(const struct frame *f, enum window_flavor flavor, int64_t size, uint32_t unit, word comm,
                        word win);

/* Synchronization: `detail` says more of it (assertions, kind of lock), `group` with whom. */
void record_win(const struct frame *f, word win, int32_t peer, uint16_t detail);
void record_win_group(const struct frame *f, word win, word group, uint16_t detail);
void record_win_memory(const struct frame *f, word win, word base);

/* An operation: data handed over and taken, the target's rank, and its displacement in units of the window. */
void record_rma(const struct frame *f, word win, struct data sent, struct data received, int target, int64_t at);
void record_rma_request(const struct frame *f, word win, struct data sent, struct data received, int target, int64_t at,
                        word request);

#endif
