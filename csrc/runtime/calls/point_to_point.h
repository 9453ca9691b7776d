/* Sends and receives that block or are posted, and probes. Contract: frame.h.
 *
 * Data are passed by address: copying a struct that was just written would stall on store forwarding. `peer`,
 * `dest` and `source` are ranks of the communicator, as the program gave them (MPI_ANY_SOURCE, MPI_PROC_NULL). `status`
 * is that of the call and never ignored (status_buffer). */
#ifndef POINT_TO_POINT_H
#define POINT_TO_POINT_H

#include "calls/data_bytes.h"
#include "calls/frame.h"
#include "handles/requests.h"

/* A blocking send. */
void record_send(const struct frame *f, const struct data *data, int dest, int tag, word comm);

/* A blocking receive. */
void record_recv(const struct frame *f, word comm, const void *status);

/* MPI_Sendrecv and MPI_Sendrecv_replace. */
void record_sendrecv(const struct frame *f, const struct data *data, int dest, int tag, word comm, const void *status);

/* A posted operation: its request is followed from now on. */
void record_post(const struct frame *f, enum request_kind kind, const struct data *data, int peer, int tag, word comm,
                 word request);

/* MPI_Isendrecv: one request for both. */
void record_isendrecv(const struct frame *f, struct data data, int dest, int tag, struct data receive, int source,
                      int receive_tag, word comm, word request);

/* MPI_Send_init and its like: nothing moves before record_start. */
void record_persistent(const struct frame *f, enum request_kind kind, const struct data *data, int peer, int tag,
                       word comm, word request);

/* A probe that found a message; one that found none is a record_poll. */
void record_probe(const struct frame *f, word comm, const void *status);

/* MPI_Mprobe and MPI_Improbe that matched a message, and the receive of it. The message is received in the order of
 * the probes, so it is remembered when it was matched. */
void record_mprobe(const struct frame *f, word comm, word message, const void *status);
void record_mrecv(const struct frame *f, struct held_request message, const void *status);
void record_imrecv(const struct frame *f, struct held_request message, word request);

#endif
