/* Calls that start, complete, cancel or free requests. Contract: frame.h.
 *
 * `handles` are copies of before the call (save_handles); NULL: no request is followed. Statuses are never ignored
 * (status_buffer). A request that is not known (made while tracing was off, or null) is left out. */
#ifndef COMPLETION_H
#define COMPLETION_H

#include "calls/frame.h"
#include "handles/requests.h"

/* MPI_Start and MPI_Startall. */
void record_start(const struct frame *f, const struct held_request *handles, int n);

/* MPI_Wait, or MPI_Test that completed the request. */
void record_wait(const struct frame *f, struct held_request held, const void *status);
/* MPI_Waitall, or MPI_Testall that completed all. */
void record_waitall(const struct frame *f, const struct held_request *handles, int n, const void *statuses);

/* Indices begin at `base` (index_base). MPI_UNDEFINED: none was completed. */
void record_waitsome(const struct frame *f, const struct held_request *handles, int n, int completed,
                     const int *indices, int base, const void *statuses);
void record_waitany(const struct frame *f, const struct held_request *handles, int n, int index, int base,
                    const void *status);

/* MPI_Cancel. */
void record_cancel(const struct frame *f, struct held_request held);

/* Ask how the operation has ended whose request is about to be freed: nobody can afterwards. Called before the call.
 * Returns a status of this thread, or NULL if it is not known or does not matter. */
const void *status_before_free(struct held_request held);
void record_request_free(const struct frame *f, struct held_request held, const void *status);

/* In MPI_Finalize: store the receives that nobody has completed. */
void record_open_receives(const struct frame *f);

/* A request of which nothing but its times is followed (a generalized request, MPI_Comm_ihalt). */
void record_other_request(const struct frame *f, word comm, word request);

#endif
