/* The MPI functions that the library itself calls, by their profiling names. */
#ifndef PMPI_H
#define PMPI_H

#include "mpi/abi.h"

struct pmpi {
    int (*Comm_rank)(word comm, int *rank);
    int (*Comm_size)(word comm, int *size);
    int (*Comm_remote_size)(word comm, int *size);
    int (*Comm_test_inter)(word comm, int *flag);
    int (*Comm_group)(word comm, word *group);
    int (*Comm_remote_group)(word comm, word *group);
    int (*Group_translate_ranks)(word group, int n, const int *ranks, word to, int *out);
    int (*Group_free)(word *group);
    int (*Type_size)(word type, int *size);
    int (*Type_size_x)(word type, int64_t *size);
    int (*Topo_test)(word comm, int *kind);
    int (*Cartdim_get)(word comm, int *ndims);
    int (*Graph_neighbors_count)(word comm, int rank, int *n);
    int (*Dist_graph_neighbors_count)(word comm, int *in, int *out, int *weighted);
    int (*Bcast)(void *buffer, word count, word type, word root, word comm);
    int (*Gather)(const void *send, word n, word type, void *receive, word m, word type2, word root, word comm);
    int (*Allgather)(const void *send, word n, word type, void *receive, word m, word type2, word comm);
    int (*Send)(const void *buffer, word n, word type, word destination, word tag, word comm);
    int (*Recv)(void *buffer, word n, word type, word source, word tag, word comm, word status);
    int (*Iprobe)(word source, word tag, word comm, int *flag, word status);
    int (*Comm_dup)(word comm, word *copy);
    int (*Request_get_status)(word request, int *flag, void *status);
    int (*Query_thread)(int *level);
    int (*Error_class)(int code, int *class);
    int (*Type_get_extent)(word type, int64_t *lower, int64_t *extent);
    int (*File_get_position)(word file, int64_t *offset);
    int (*File_get_byte_offset)(word file, int64_t offset, int64_t *bytes);
    int (*Get_library_version)(char *text, int *length);
    int (*Comm_free)(word *comm);
    int (*Comm_get_parent)(word *comm);
    int (*Group_rank)(word group, int *rank);
    int (*Group_size)(word group, int *size);
    int (*Group_from_session_pset)(word session, const char *name, word *group);
    int (*Comm_create_from_group)(word group, const char *tag, word info, word errhandler, word *comm);
};

extern struct pmpi pmpi;

/* The communicator of all ranks while this thread may ask them, in MPI_Init, MPI_Finalize and the like:
 * MPI_COMM_WORLD, or one of our own. */
extern __thread word all_ranks __attribute__((tls_model("initial-exec")));

/* Find them all. False: this is no MPI library that we can work with. */
bool pmpi_resolve(void);

/* A group from Comm_group as the functions take it (by value), whatever the width of a handle. */
static inline word pmpi_handle(const word *p)
{
    return abi_handle(p);
}

#endif
