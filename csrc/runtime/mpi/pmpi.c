#include "mpi/pmpi.h"

#include <stddef.h>
#include <string.h>

#include "mpi/resolve.h"

struct pmpi pmpi;
__thread word all_ranks __attribute__((tls_model("initial-exec")));

static const struct {
    const char *name;
    size_t at;
    bool optional;
} functions[] = {
#define FUNCTION(name) {"PMPI_" #name, offsetof(struct pmpi, name), false}
#define OPTIONAL(name) {"PMPI_" #name, offsetof(struct pmpi, name), true}
    FUNCTION(Comm_rank),
    FUNCTION(Comm_size),
    FUNCTION(Comm_remote_size),
    FUNCTION(Comm_test_inter),
    FUNCTION(Comm_group),
    FUNCTION(Comm_remote_group),
    FUNCTION(Group_translate_ranks),
    FUNCTION(Group_free),
    FUNCTION(Type_size),
    OPTIONAL(Type_size_x),
    FUNCTION(Topo_test),
    FUNCTION(Cartdim_get),
    FUNCTION(Graph_neighbors_count),
    OPTIONAL(Dist_graph_neighbors_count),
    FUNCTION(Bcast),
    FUNCTION(Gather),
    FUNCTION(Allgather),
    FUNCTION(Send),
    FUNCTION(Recv),
    FUNCTION(Iprobe),
    FUNCTION(Comm_dup),
    FUNCTION(Request_get_status),
    FUNCTION(Query_thread),
    FUNCTION(Error_class),
    FUNCTION(Type_get_extent),
    OPTIONAL(File_get_position),
    OPTIONAL(File_get_byte_offset),
    OPTIONAL(Get_library_version),
    FUNCTION(Comm_free),
    OPTIONAL(Comm_get_parent),
    FUNCTION(Group_rank),
    FUNCTION(Group_size),
    OPTIONAL(Group_from_session_pset),
    OPTIONAL(Comm_create_from_group),
#undef FUNCTION
#undef OPTIONAL
};

bool pmpi_resolve(void)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *p = resolve_symbol(functions[i].name);
        if (!p && !functions[i].optional) return false;
        memcpy((char *)&pmpi + functions[i].at, &p, sizeof p);
    }
    return true;
}
