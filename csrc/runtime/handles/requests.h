/* Requests between the call that posts them and the call that completes them. */
#ifndef REQUESTS_H
#define REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/abi.h"

enum request_kind {
    REQUEST_SEND,
    REQUEST_RECV,
    REQUEST_COLLECTIVE,
    REQUEST_COMM,
    REQUEST_RMA,
    REQUEST_READ,
    REQUEST_WRITE,
    REQUEST_PARTITIONED_SEND,
    REQUEST_PARTITIONED_RECV,
    REQUEST_OTHER,
};

/* Memory that MPI reads until an operation is complete: a list. */
struct owned {
    void *memory;
    struct owned *next;
};

struct request {
    word handle;
    uint64_t posted; /* `enter` of the call that posted or started it */
    uint64_t bytes;
    uint32_t comm;
    int32_t peer, tag;
    uint8_t kind;
    uint16_t call; /* that posted or started it */
    bool persistent, active, cancelling;
    bool posted_both;    /* MPI_Isendrecv: peer, tag and bytes are those of the posted receive */
    bool fortran;        /* of newcomm */
    struct owned *owned; /* converted count arrays; freed at completion */
    const void *newcomm; /* REQUEST_COMM: where MPI_Comm_idup writes the communicator */
    union {
        uint64_t new_id;          /* and the id that it will have */
        uint64_t received;        /* REQUEST_COLLECTIVE: `bytes` are those that are handed over */
        uint64_t partition_bytes; /* of partitioned operations */
    };
    uint8_t ordinal; /* of partitioned operations: which of several that are alike */
};

/* A handle that a call is about to be given. With many threads it does not say enough when the call has returned: MPI
 * may have given it to another thread for a new operation. So it is held before the call. */
struct held_request {
    word handle;
    uint64_t operation; /* which of those that have the handle; 0: not held, NO_OPERATION: none */
};
#define NO_OPERATION UINT64_MAX
extern bool requests_are_shared; /* among threads */
void requests_hold_shared(struct held_request *handles, int n);
static inline void requests_hold(struct held_request *handles, int n)
{
    if (__builtin_expect(requests_are_shared, false)) requests_hold_shared(handles, n);
}

/* Must be called once the thread level is known: with MPI_THREAD_MULTIPLE the table is locked. */
void requests_start(bool many_threads);

/* Remember an operation. MPI may give out one handle for several operations that are already complete
 * (MPICH's eager sends, Open MPI's MPI_PROC_NULL): a thread that completes one means its own first, the oldest first.
 * The entry is filled in place, by way of its fields: a copy of what was just written would cost more than the rest.
 * NULL for a null handle; else requests_close follows. */
struct request *requests_open(word handle);
void requests_close(void);
void requests_add(const struct request *r); /* a copy, where speed does not matter */

/* The operation behind a handle in place, if it is active; else NULL. Then requests_complete follows, which removes
 * it, or makes it inactive if it is persistent. */
struct request *requests_find_active(struct held_request held);
void requests_complete(struct request *r);

/* Copy the operation that a handle stands for, active or not. */
bool requests_look(struct held_request held, struct request *out);

/* The operation as a copy if it is active, which is removed, or made inactive. */
bool requests_take(struct held_request held, struct request *out);

/* Change the operation in place: start a persistent one, mark a cancel. */
bool requests_start_persistent(struct held_request held, uint64_t posted, uint16_t call, struct request *out);
void requests_mark_cancel(struct held_request held);

/* When each receive that is not complete was posted. */
struct open_receives;
void requests_open_receives(struct open_receives *open);

/* Remove one of the ordinary receives that are still active; false: there is none from place *from of the table on,
 * which begins at 0. */
bool requests_take_open_receive(size_t *from, struct request *out);

/* MPI_Request_free: remove it, persistent or not. */
bool requests_drop(struct held_request held, struct request *out);

#endif
