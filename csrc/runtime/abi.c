#define _GNU_SOURCE
#include "abi.h"

#include <dlfcn.h>
#include <string.h>

#include "resolve.h"
#include "schema.h"

struct abi abi;

static const struct abi open_mpi = {
    .name = "Open MPI",
    .family = FAMILY_OPEN_MPI,
    .wide_handles = true,
    .status_bytes = 24,
    .source_at = 0,
    .tag_at = 1,
    .error_at = 2,
    .count_at = 4,
    .cancelled_at = 3,
    .count_is_word = true,
    .cancelled_mask = 0xff,
    .status_ignore = 0,
    .statuses_ignore = 0,
    .in_place = 1,
    .any_source = -1,
    .any_tag = -1,
    .proc_null = -2,
    .root = -4,
    .err_in_status = 18,
    .err_pending = 19,
    .thread_multiple = 3,
    .cart = 1,
    .graph = 2,
    .dist_graph = 3,
};

static const struct abi mpich = {
    .name = "MPICH",
    .family = FAMILY_MPICH,
    .fortran_calls_c = true,
    .status_bytes = 20,
    .source_at = 2,
    .tag_at = 3,
    .error_at = 4,
    .count_at = 0,
    .cancelled_at = 1,
    .cancelled_mask = 1,
    .world = 0x44000000,
    .self = 0x44000001,
    .comm_null = 0x04000000,
    .request_null = 0x2c000000,
    .byte = 0x4c00010d,
    .message_null = 0x2c000000,
    .message_no_proc = 0x6c000000,
    .status_ignore = 1,
    .statuses_ignore = 1,
    .in_place = -1,
    .any_source = -2,
    .any_tag = -1,
    .proc_null = -1,
    .root = -3,
    .err_in_status = 17,
    .err_pending = 18,
    .thread_multiple = 3,
    .cart = 2,
    .graph = 1,
    .dist_graph = 3,
};

static const struct abi mpi_abi = {
    .name = "MPI ABI",
    .family = FAMILY_MPI_ABI,
    .wide_handles = true,
    .fortran_calls_c = true,
    .status_bytes = 32,
    .source_at = 0,
    .tag_at = 1,
    .error_at = 2,
    .count_at = 3,
    .cancelled_at = 4,
    .cancelled_mask = 1,
    .world = 0x101,
    .self = 0x102,
    .comm_null = 0x100,
    .request_null = 0x180,
    .byte = 0x247,
    .message_null = 0x128,
    .message_no_proc = 0x129,
    .status_ignore = 0,
    .statuses_ignore = 0,
    .in_place = 1,
    .any_source = -1,
    .any_tag = -2,
    .proc_null = -3,
    .root = -4,
    .err_in_status = 19,
    .err_pending = 18,
    .thread_multiple = 4096,
    .cart = 211,
    .graph = 212,
    .dist_graph = 213,
};

/* Open MPI's predefined handles are addresses of its data. */
static void take_open_mpi_handles(void)
{
    abi.world = (word)resolve_data("ompi_mpi_comm_world");
    abi.self = (word)resolve_data("ompi_mpi_comm_self");
    abi.comm_null = (word)resolve_data("ompi_mpi_comm_null");
    abi.request_null = (word)resolve_data("ompi_request_null");
    abi.byte = (word)resolve_data("ompi_mpi_byte");
    abi.message_null = (word)resolve_data("ompi_message_null");
    abi.message_no_proc = (word)resolve_data("ompi_message_no_proc");
}

bool abi_detect(void)
{
    void *init = resolve_symbol("PMPI_Init");
    Dl_info library;
    if (!init || !dladdr(init, &library)) return false;
    if (library.dli_fname && strstr(library.dli_fname, "libmpi_abi")) {
        abi = mpi_abi;
    } else if (resolve_data("ompi_mpi_comm_world")) {
        abi = open_mpi;
        take_open_mpi_handles();
    } else {
        abi = mpich;
    }
    return true;
}

int32_t abi_peer(int rank)
{
    if (rank >= 0) return rank;
    if (rank == abi.proc_null) return PEER_PROC_NULL;
    if (rank == abi.any_source) return PEER_ANY_SOURCE;
    if (rank == abi.root) return PEER_ROOT;
    return PEER_NONE;
}

uint64_t abi_thread_level(int level)
{
    if (abi.family == FAMILY_MPI_ABI)
        return (uint64_t)level / 1024 > 3 ? 3 : (uint64_t)level / 1024; /* 0, 1024, .. 4096 */
    return (uint64_t)level;
}

/* MPICH sets its pointers only when its Fortran side starts: they are read at each use, never kept. */
static bool same_address(word address, void *const *symbol)
{
    return symbol && *symbol && address == (word)*symbol;
}

bool abi_fortran_status_ignored(word status)
{
    static void *const *symbols[4];
    static bool known;
    if (!known) {
        symbols[0] = resolve_data("MPI_F_STATUS_IGNORE");
        symbols[1] = resolve_data("MPI_F_STATUSES_IGNORE");
        symbols[2] = resolve_data("MPI_F08_STATUS_IGNORE");
        symbols[3] = resolve_data("MPI_F08_STATUSES_IGNORE");
        known = true;
    }
    return same_address(status, symbols[0]) || same_address(status, symbols[1]) || same_address(status, symbols[2]) ||
           same_address(status, symbols[3]);
}

bool abi_fortran_in_place(word buffer)
{
    static const char *const names[] = {"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__",
                                        "MPI_FORTRAN_IN_PLACE"};
    static word addresses[4];
    static bool known;
    if (!known) {
        for (int i = 0; i < 4; i++) addresses[i] = (word)resolve_data(names[i]);
        known = true;
    }
    for (int i = 0; i < 4; i++)
        if (addresses[i] && buffer == addresses[i]) return true;
    return false;
}

/* MPICH's Fortran handles are its C handles; the others convert by a function. */
static word converted(const int *f, word (**function)(word), const char *open_mpi_name, const char *abi_name)
{
    if (abi.family == FAMILY_MPICH) return *f;
    if (!*function)
        *function = (word (*)(word))resolve_symbol(abi.family == FAMILY_OPEN_MPI ? open_mpi_name : abi_name);
    return *function ? (*function)(*f) : 0;
}

word abi_comm_f2c(const int *f)
{
    static word (*function)(word);
    return converted(f, &function, "PMPI_Comm_f2c", "PMPI_Comm_fromint");
}

word abi_type_f2c(const int *f)
{
    static word (*function)(word);
    return converted(f, &function, "PMPI_Type_f2c", "PMPI_Type_fromint");
}

word abi_request_f2c(const int *f)
{
    static word (*function)(word);
    return converted(f, &function, "PMPI_Request_f2c", "PMPI_Request_fromint");
}

word abi_message_f2c(const int *f)
{
    static word (*function)(word);
    return converted(f, &function, "PMPI_Message_f2c", "PMPI_Message_fromint");
}
