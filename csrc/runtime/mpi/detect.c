#include "mpi/detect.h"

#include <stdio.h>
#include <string.h>

#include "mpi/abi.h"
#include "mpi/resolve.h"

/* Open MPI's predefined handles are addresses of its data. */
static bool take_open_mpi(void)
{
    struct abi found = abi_open_mpi;
    found.world = (word)resolve_data("ompi_mpi_comm_world");
    found.self = (word)resolve_data("ompi_mpi_comm_self");
    found.comm_null = (word)resolve_data("ompi_mpi_comm_null");
    found.request_null = (word)resolve_data("ompi_request_null");
    found.byte = (word)resolve_data("ompi_mpi_byte");
    found.op_no_op = (word)resolve_data("ompi_mpi_op_no_op");
    found.info_null = (word)resolve_data("ompi_mpi_info_null");
    found.errors_return = (word)resolve_data("ompi_mpi_errors_return");
    found.message_null = (word)resolve_data("ompi_message_null");
    found.message_no_proc = (word)resolve_data("ompi_message_no_proc");
    found.last_error = resolve_data("ompi_mpi_errcode_lastused");
    if (!found.world || !found.self || !found.comm_null || !found.request_null || !found.byte) return false;
    abi = found;
    return true;
}

/* MPI_DUP_FN is this in the mpi.h of MPICH: the libraries of Intel, Cray, MVAPICH and others have it. */
static bool take_mpich(void)
{
    if (!resolve_symbol("MPIR_Dup_fn")) return false;
    abi = abi_mpich;
    return true;
}

/* MPI 5.0, 20.2. What was called so before that had other numbers. */
static bool take_standard(const char *library)
{
    if (!strstr(library, "libmpi_abi")) return false;
    int (*get_version)(int *, int *) = (int (*)(int *, int *))resolve_symbol("PMPI_Abi_get_version");
    int major = 0, minor = 0;
    if (!get_version || get_version(&major, &minor) || major != 1) return false;
    abi = abi_standard;
    return true;
}

bool detect_mpi(char why[UNKNOWN_MPI_ROOM])
{
    const char *library = resolve_library("PMPI_Init");
    if (library && (take_standard(library) || take_open_mpi() || take_mpich())) {
        snprintf(why, UNKNOWN_MPI_ROOM, "the MPI library %.400s lacks functions of MPI", library);
        return true;
    }
    if (!library) library = resolve_library("MPI_Init");
    if (library)
        snprintf(why, UNKNOWN_MPI_ROOM, "the MPI library %.400s is neither Open MPI nor MPICH nor of the standard ABI",
                 library);
    else
        snprintf(why, UNKNOWN_MPI_ROOM, "no MPI library that can be traced is loaded here");
    return false;
}

bool detect_confirms(char why[UNKNOWN_MPI_ROOM])
{
    static const int64_t bytes = 0x123456789ab;
    int64_t status[STATUS_ROOM / sizeof(int64_t)] = {0};
    int (*set_elements)(void *, word, int64_t) =
        (int (*)(void *, word, int64_t))resolve_symbol("PMPI_Status_set_elements_x");
    int (*set_cancelled)(void *, int) = (int (*)(void *, int))resolve_symbol("PMPI_Status_set_cancelled");
    if (!set_elements || !set_cancelled) return true; /* before MPI 3.0 it cannot be asked */
    bool right = set_elements(status, abi.byte, bytes) == 0 && abi_status_bytes(status) == (uint64_t)bytes;
    right = right && !abi_status_cancelled(status) && set_cancelled(status, 1) == 0 && abi_status_cancelled(status);
    if (!right)
        snprintf(why, UNKNOWN_MPI_ROOM, "this MPI has the symbols of %s, but writes MPI_Status in another way",
                 abi.name);
    return right;
}
