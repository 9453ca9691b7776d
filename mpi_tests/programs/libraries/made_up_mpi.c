/* The library to made_up_mpi.h, for one process. -DPROFILED: it has the PMPI_ names, too. -DCLAIMS_MPICH: and what
 * MPICH's mpi.h refers to, but none of it may be called. */
#include "made_up_mpi.h"

#include <stdlib.h>
#include <string.h>

struct made_up_comm made_up_world = {1, 0};
struct made_up_type made_up_int = {4};

int MPI_Init(int *argc, char ***argv)
{
    return !argc || !argv;
}
int MPI_Finalize(void)
{
    return 0;
}
int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    return *rank = comm->rank, 0;
}
int MPI_Comm_size(MPI_Comm comm, int *size)
{
    return *size = comm->size, 0;
}
int MPI_Type_size(MPI_Datatype type, int *bytes)
{
    return *bytes = type->bytes, 0;
}
int MPI_Sendrecv(const void *send, int n, MPI_Datatype type, int to, int tag, void *receive, int m, MPI_Datatype type2,
                 int from, int tag2, MPI_Comm comm, MPI_Status *status)
{
    if (to != comm->rank || from != to || tag != tag2 || m != n || type != type2) return 1;
    memcpy(receive, send, (size_t)n * (size_t)type->bytes);
    *status = (MPI_Status){(short)from, (short)tag, 0, n * (double)type->bytes};
    return 0;
}
double MPI_Wtime(void)
{
    return 42;
}

#ifdef PROFILED
#define ALSO(type, name) type PMPI_##name() __attribute__((alias("MPI_" #name)))
ALSO(int, Init);
ALSO(int, Finalize);
ALSO(int, Comm_rank);
ALSO(int, Comm_size);
ALSO(int, Type_size);
ALSO(int, Sendrecv);
ALSO(double, Wtime);
#endif

#ifdef CLAIMS_MPICH
#define UNCALLED(name)                                                                                                 \
    int name(void)                                                                                                     \
    {                                                                                                                  \
        abort();                                                                                                       \
    }
UNCALLED(MPIR_Dup_fn)
UNCALLED(PMPI_Comm_remote_size)
UNCALLED(PMPI_Comm_test_inter)
UNCALLED(PMPI_Comm_group)
UNCALLED(PMPI_Comm_remote_group)
UNCALLED(PMPI_Group_translate_ranks)
UNCALLED(PMPI_Group_free)
UNCALLED(PMPI_Topo_test)
UNCALLED(PMPI_Cartdim_get)
UNCALLED(PMPI_Graph_neighbors_count)
UNCALLED(PMPI_Bcast)
UNCALLED(PMPI_Gather)
UNCALLED(PMPI_Allgather)
UNCALLED(PMPI_Send)
UNCALLED(PMPI_Recv)
UNCALLED(PMPI_Iprobe)
UNCALLED(PMPI_Comm_dup)
UNCALLED(PMPI_Query_thread)
UNCALLED(PMPI_Error_class)
UNCALLED(PMPI_Request_get_status)
UNCALLED(PMPI_Type_get_extent)
UNCALLED(PMPI_Comm_free)
UNCALLED(PMPI_Group_rank)
UNCALLED(PMPI_Group_size)

int PMPI_Status_set_elements_x(MPI_Status *status, int type, long long n)
{
    (void)type;
    status->bytes = (double)n;
    return 0;
}
int PMPI_Status_set_cancelled(MPI_Status *status, int flag)
{
    status->MPI_ERROR = flag;
    return 0;
}
#endif
