/* Calls that make, name, find and free communicators. */
#include "calls/communicators.h"

#include "calls/internal/rows.h"
#include "calls/timed.h"
#include "handles/comms.h"
#include "handles/requests.h"
#include "run/labels.h"

void record_comm_created(const struct frame *f, word comm, word newcomm)
{
    if (f->result == 0) comms_created(newcomm, comm);
    record_timed(f, comm);
}

void record_comm_connected(const struct frame *f, word comm, word newcomm)
{
    if (f->result == 0) comms_connected(newcomm, comm);
    record_timed(f, comm);
}

void record_comm_name(const struct frame *f, word comm, const char *name, size_t length)
{
    uint32_t index = f->result == 0 ? comms_find(comm)->index : COMM_INDEX_NONE;
    while (length && name[length - 1] == ' ') length--; /* Fortran fills up with them */
    if (index > COMM_INDEX_SELF && length) labels_communicator(index, (struct name){name, length});
    record_timed(f, comm);
}

void record_comm_found(const struct frame *f, word newcomm)
{
    if (f->result == 0) comms_found(newcomm);
    record_timed(f, abi.comm_null);
}

void record_comm_idup(const struct frame *f, word comm, const void *newcomm, bool fortran, word request)
{
    record_timed(f, comm);
    if (f->result == 0)
        requests_add(&(struct request){.handle = request,
                                       .posted = f->enter,
                                       .comm = comms_find(comm)->index,
                                       .peer = PEER_NONE,
                                       .tag = -1,
                                       .kind = REQUEST_COMM,
                                       .active = true,
                                       .fortran = fortran,
                                       .newcomm = newcomm,
                                       .new_id = comms_promise(comm)});
}

void record_comm_free(const struct frame *f, uint32_t index, word comm)
{
    struct file_call row = plain_row(f);
    row.comm = index;
    if (f->result == 0) comms_freed(comm, index);
    thread_store_call(f->t, row);
}
