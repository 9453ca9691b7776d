/* From the arguments and results of an MPI call to the row that is stored: one function for each kind of call.
 *
 * The generated wrappers (csrc/generate/wrappers.py) stamp, call MPI, stamp, and end in one of these. They hand
 * over canonical C values: handles as words, integers as integers, whatever language the program is in. */
#ifndef DECODE_H
#define DECODE_H

#include "calls/internal/rows.h"
#include "handles/comms.h"
#include "handles/count_arrays.h"
#include "handles/groups.h"
#include "handles/objects.h"
#include "handles/requests.h"
#include "mpi/abi.h"

/* One call that has returned. */
struct frame {
    struct thread *t;
    uint64_t enter, exit;
    int result; /* MPI_SUCCESS is 0 in every MPI */
    uint16_t call;
    uint32_t path; /* where it was made; t->path is that of another one, if MPI has run one in it on another stack */
};

/* The row of a call that failed has no partner: nothing was transferred. */
static inline struct file_call plain_row(const struct frame *f)
{
    return (struct file_call){.enter = f->enter, .exit = f->exit, .call = f->call, .peer = PEER_NONE, .tag = -1};
}

enum language { LANGUAGE_C, LANGUAGE_C_LARGE, LANGUAGE_FORTRAN };

/* A buffer argument with its count(s) and type(s), looked at only where they are significant. */
struct data {
    word address, count, type;
    enum language language;
};

/* What a collective moves, seen from one process. */
enum shape {
    SHAPE_BARRIER,
    SHAPE_BCAST,
    SHAPE_GATHER,
    SHAPE_GATHERV,
    SHAPE_SCATTER,
    SHAPE_SCATTERV,
    SHAPE_ALLGATHER,
    SHAPE_ALLGATHERV,
    SHAPE_ALLTOALL,
    SHAPE_ALLTOALLV,
    SHAPE_ALLTOALLW,
    SHAPE_REDUCE,
    SHAPE_ALLREDUCE,
    SHAPE_SCAN,
    SHAPE_EXSCAN,
    SHAPE_REDUCE_SCATTER,
    SHAPE_REDUCE_SCATTER_BLOCK,
    SHAPE_NEIGHBOR_ALLGATHER,
    SHAPE_NEIGHBOR_ALLGATHERV,
    SHAPE_NEIGHBOR_ALLTOALL,
    SHAPE_NEIGHBOR_ALLTOALLV,
    SHAPE_NEIGHBOR_ALLTOALLW,
};

/* Bytes of n elements of a type (data.c). */
uint64_t type_bytes(int64_t n, word type);
uint64_t data_bytes(const struct data *d);
uint64_t data_sum(const struct data *d, uint32_t n);
uint64_t data_bytes_at(const struct data *d, uint32_t i);
uint64_t data_sum_types(const struct data *d, uint32_t n);
bool data_in_place(const struct data *d);

/* Before the call: working copies. Handles are nulled by completion; a status that the program ignores is ours.
 * Without memory for many statuses the handles are forgotten: none is followed. */
const struct held_request *save_handles(struct thread *t, word array, int n, enum language language);
void *status_buffer(struct thread *t, word user, bool ignored, int n, const struct held_request **handles);

/* First index in what a Fortran call that completes some of several requests returns. */
enum index_call { INDEX_ANY, INDEX_SOME };
int index_base(enum index_call call, word array, const struct held_request *handles, int n, int index);

/* The class of the error that a call has returned. */
void record_error(const struct frame *f);

/* The call that a thread is inside of was left by longjmp or an exception of the program's error handler. */
void record_left(struct thread *t);

/* Whether a call has received what it was to receive, though the message may have been too long for the buffer. */
bool has_received(const struct frame *f);
void record_pcontrol(const struct frame *f, int level);

/* Only times, and the communicator where there is one. */
void record_timed(const struct frame *f, word comm);

/* The same of what some programs ask in their innermost loops: calls that repeat the latest one share a row. Where it
 * is called is looked for only if a row is begun: `frame` is the wrapper's. */
void record_asked(const struct frame *f, word comm, const uint64_t *frame);

/* What a call does to a window or a file, and where in it. */
struct access {
    const struct object *object; /* NULL: made out of our sight */
    uint64_t sent, received;
    int64_t offset; /* bytes; -1: not known */
    int32_t peer;
    uint16_t detail;
};

void record_access(const struct frame *f, struct access a);
void record_object_freed(const struct frame *f, const struct object *object);

/* How a window was made: flags of its row of `objects`, as the standard numbers its flavours. */
enum window_flavor { WINDOW_CREATE = 1, WINDOW_ALLOCATE, WINDOW_DYNAMIC, WINDOW_SHARED };
void record_win_created(const struct frame *f, enum window_flavor flavor, int64_t size, uint32_t unit, word comm,
                        word win);
void record_win(const struct frame *f, word win, int32_t peer, uint16_t detail);
void record_win_group(const struct frame *f, word win, word group, uint16_t detail);
void record_win_memory(const struct frame *f, word win, word base);

/* A one-sided operation: data handed over and taken, and the target's rank and displacement. */
void record_rma(const struct frame *f, word win, struct data sent, struct data received, int target, int64_t at);
void record_rma_request(const struct frame *f, word win, struct data sent, struct data received, int target, int64_t at,
                        word request);

/* Files. A place in a file is a number of bytes from its beginning; -1: it cannot be told. Places are asked for
 * before the call, of files only that are open. */
enum io { IO_READ, IO_WRITE };
int64_t io_at(word file, int64_t offset); /* of an offset in the view */
int64_t io_position(word file);           /* of the individual file pointer */
int64_t io_split(word file);              /* of the split collective that is going on */
void *io_status(struct thread *t, word user, bool ignored);
void record_file_opened(const struct frame *f, word comm, const char *name, size_t length, int amode, word file);
void record_file_view(const struct frame *f, word file, int64_t begin, word etype, word filetype, bool native);
void record_file(const struct frame *f, word file, int64_t offset);
void record_io(const struct frame *f, word file, enum io direction, int64_t offset, const void *status);
void record_io_begin(const struct frame *f, word file, int64_t offset);
void record_io_request(const struct frame *f, word file, enum io direction, struct data data, int64_t offset,
                       word request);

/* What is sent is read where it was written down: a copy of words that were just written waits until they are in the
 * cache. */
void record_send(const struct frame *f, const struct data *data, int dest, int tag, word comm);
void record_recv(const struct frame *f, word comm, const void *status);
void record_sendrecv(const struct frame *f, const struct data *data, int dest, int tag, word comm, const void *status);
void record_post(const struct frame *f, enum request_kind kind, const struct data *data, int peer, int tag, word comm,
                 word request);
void record_isendrecv(const struct frame *f, struct data data, int dest, int tag, struct data receive, int source,
                      int receive_tag, word comm, word request);
void record_persistent(const struct frame *f, enum request_kind kind, const struct data *data, int peer, int tag,
                       word comm, word request);
void record_other_request(const struct frame *f, word comm, word request);

void record_start(const struct frame *f, const struct held_request *handles, int n);
void record_wait(const struct frame *f, struct held_request held, const void *status);
void record_waitall(const struct frame *f, const struct held_request *handles, int n, const void *statuses);
void record_waitsome(const struct frame *f, const struct held_request *handles, int n, int completed,
                     const int *indices, int base, const void *statuses);
void record_waitany(const struct frame *f, const struct held_request *handles, int n, int index, int base,
                    const void *status);
void record_poll(const struct frame *f);
void record_cancel(const struct frame *f, struct held_request held);

/* How the operation has ended whose request is about to be freed: a status, or NULL. Afterwards nobody can ask. */
const void *status_before_free(struct held_request held);
void record_request_free(const struct frame *f, struct held_request held, const void *status);

/* In MPI_Finalize: the receives that nobody has completed. */
void record_open_receives(const struct frame *f);

/* Partitioned operations: one message a start. */
struct partitioned {
    enum request_kind kind;
    int partitions, peer, tag;
    int64_t count; /* elements of a partition */
    word type, comm;
};
void record_partitioned_init(const struct frame *f, struct partitioned p, word request);
void record_pready(const struct frame *f, word request, int64_t partitions);
void record_parrived(const struct frame *f, word request);

void record_probe(const struct frame *f, word comm, const void *status);
void record_mprobe(const struct frame *f, word comm, word message, const void *status);
void record_mrecv(const struct frame *f, struct held_request message, const void *status);
void record_imrecv(const struct frame *f, struct held_request message, word request);

void record_collective(const struct frame *f, enum shape shape, struct data send, struct data recv, int root,
                       word comm);
void record_icollective(const struct frame *f, enum shape shape, struct data send, struct data recv, int root,
                        word comm, word request);
void record_collective_init(const struct frame *f, enum shape shape, struct data send, struct data recv, int root,
                            word comm, word request);

void record_comm_created(const struct frame *f, word comm, word newcomm);
void record_comm_connected(const struct frame *f, word comm, word newcomm);
void record_comm_name(const struct frame *f, word comm, const char *name, size_t length);
void record_comm_found(const struct frame *f, word newcomm);
void record_comm_idup(const struct frame *f, word comm, const void *newcomm, bool fortran, word request);
void record_comm_free(const struct frame *f, uint32_t index, word comm);

#endif
