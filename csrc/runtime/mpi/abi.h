/* Differences between MPI implementations, as data: handles, constants, the layout of MPI_Status.
 *
 * The library is not compiled against any mpi.h. Every argument of an MPI call is a word that passes through
 * unchanged; only the few that are recorded are looked at, through this table. */
#ifndef ABI_H
#define ABI_H

#include <stdbool.h>
#include <stdint.h>

typedef intptr_t word; /* any argument or result of an MPI call */

enum mpi_family { FAMILY_UNKNOWN, FAMILY_OPEN_MPI, FAMILY_MPICH, FAMILY_MPI_ABI };

enum { ASSERTIONS = 5, ACCESS_MODES = 9 };

struct abi {
    const char *name;
    enum mpi_family family;
    bool wide_handles;    /* 8 bytes; else 4 */
    bool fortran_calls_c; /* mpi_x_ calls MPI_X, which records it */
    uint32_t status_bytes;
    uint8_t source_at, tag_at, error_at; /* int index in MPI_Status */
    uint8_t count_at, cancelled_at;      /* int index */
    bool count_is_word;                  /* bytes are one 64-bit word; else low int, and the next int >> 1 above it */
    uint8_t cancelled_mask;
    word world, self, comm_null, request_null, byte, message_null, message_no_proc;
    word status_ignore, statuses_ignore, in_place;
    word op_no_op, info_null, errors_return;
    int any_source, any_tag, proc_null, root;
    int err_in_status, err_pending, thread_multiple;
    int cart, graph, dist_graph; /* kinds of topology */
    int lock_exclusive, lock_shared;
    int assertions[ASSERTIONS];    /* MPI_MODE_NOCHECK, NOPRECEDE, NOPUT, NOSTORE, NOSUCCEED */
    int modes[ACCESS_MODES];       /* MPI_MODE_APPEND, CREATE, DELETE_ON_CLOSE, EXCL, RDONLY, RDWR, SEQUENTIAL,
                                      UNIQUE_OPEN, WRONLY */
    const uint16_t *error_classes; /* the standard ABI's number of each class from 0; NULL: they are the same */
    int last_error_class;
    const volatile int *last_error; /* where the MPI keeps the largest error code that there is; it fails, by the
                                       error handler of the world, when it is asked about larger ones. NULL: it
                                       answers whatever it is asked */
};

enum { MPI_UNDEFINED_VALUE = -32766, STATUS_ROOM = 64 }; /* the same in all; no MPI_Status is larger */

extern struct abi abi;                                         /* of the MPI that this process has loaded (detect.h) */
extern const struct abi abi_open_mpi, abi_mpich, abi_standard; /* of those that we know */

/* A handle in an array or behind a pointer; NULL from a program whose call MPI refuses. */
static inline word abi_handle(const void *p)
{
    if (!p) return 0;
    return abi.wide_handles ? *(const word *)p : (word) * (const int *)p;
}

/* A file behind a pointer: MPI_File is an address in all MPIs. */
static inline word abi_file(const void *p)
{
    return p ? *(const word *)p : 0;
}

/* A handle passed by value: only its own bytes count. */
static inline word abi_value(word w)
{
    return abi.wide_handles ? w : (word)(int)w;
}

static inline int abi_status_source(const void *status)
{
    return ((const int *)status)[abi.source_at];
}
static inline int abi_status_tag(const void *status)
{
    return ((const int *)status)[abi.tag_at];
}
static inline int abi_status_error(const void *status)
{
    return ((const int *)status)[abi.error_at];
}
static inline bool abi_status_cancelled(const void *status)
{
    return ((const int *)status)[abi.cancelled_at] & abi.cancelled_mask;
}
static inline uint64_t abi_status_bytes(const void *status)
{
    const uint32_t *s = status;
    uint64_t low = s[abi.count_at], high = s[abi.count_at + 1];
    return abi.count_is_word ? low | high << 32 : low | (high >> 1) << 32;
}

/* Constants as the file stores them: those of the standard ABI (MPI 5.0, appendix A), but 1 and 2 for the two kinds
 * of lock. */
enum { LOCK_EXCLUSIVE = 1, LOCK_SHARED = 2, FIRST_ASSERTION = 1024, MODE_SEQUENTIAL = 64, OTHER_ERROR_CLASS = 1 << 16 };
uint16_t abi_lock(int lock_type);
uint16_t abi_assertions(int assertion);
uint32_t abi_access_mode(int amode);
int64_t abi_error_class(int native); /* one that the standard does not have: OTHER_ERROR_CLASS and its number */

/* A rank argument as the file stores it: a rank, or a Peer. */
int32_t abi_peer(int rank);

/* 0 single .. 3 multiple. */
uint64_t abi_thread_level(int level);

/* Where Fortran keeps MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE and MPI_IN_PLACE. */
bool abi_fortran_status_ignored(word status);
bool abi_fortran_in_place(word buffer);

/* Fortran handles (one int) to C handles. */
word abi_comm_f2c(const int *f);
word abi_type_f2c(const int *f);
word abi_request_f2c(const int *f);
word abi_message_f2c(const int *f);
word abi_op_f2c(const int *f);
word abi_group_f2c(const int *f);
word abi_win_f2c(const int *f);
word abi_session_f2c(const int *f);
word abi_file_f2c(const int *f);

#endif
