#define _GNU_SOURCE
#include "mpi/missing.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "mpi/resolve.h"

static function real(const char *name)
{
    return (function)resolve_symbol(name);
}

/* MPI 4.1: the public fields of a status. */
static word status_get_source(word status, int *out)
{
    return *out = ((int *)status)[abi.source_at], 0;
}
static word status_get_tag(word status, int *out)
{
    return *out = ((int *)status)[abi.tag_at], 0;
}
static word status_get_error(word status, int *out)
{
    return *out = ((int *)status)[abi.error_at], 0;
}
static word status_set_source(word status, word value)
{
    return ((int *)status)[abi.source_at] = (int)value, 0;
}
static word status_set_tag(word status, word value)
{
    return ((int *)status)[abi.tag_at] = (int)value, 0;
}
static word status_set_error(word status, word value)
{
    return ((int *)status)[abi.error_at] = (int)value, 0;
}

/* Address arithmetic: macros in Open MPI. */
static word aint_add(word base, word displacement)
{
    return base + displacement;
}
static word aint_diff(word a, word b)
{
    return a - b;
}

/* MPICH's handles are ints: conversions are macros there, or do not exist yet. */
static word same(word handle)
{
    return handle;
}

/* MPI 4.0: `buffer_bytes` is the room on entry and what is needed, with the NUL, on return. */
static word info_get_string(word info, word key, int *buffer_bytes, char *value, int *flag)
{
    int length = 0, room = *buffer_bytes;
    word error = real("PMPI_Info_get_valuelen")(info, key, &length, flag);
    if ((int)error || !*flag) return error;
    *buffer_bytes = length + 1;
    if (room <= 0) return 0;
    return real("PMPI_Info_get")(info, key, (word)(room - 1), value, flag);
}

static word info_create_env(word argc, word argv, word info)
{
    (void)argc, (void)argv;
    return real("PMPI_Info_create")(info);
}

static char *status_at(char *statuses, int i)
{
    return (word)statuses == abi.statuses_ignore ? (char *)abi.status_ignore : statuses + (size_t)i * abi.status_bytes;
}

static word request_at(const char *requests, int i)
{
    return abi_handle(requests + (size_t)i * (abi.wide_handles ? 8 : 4));
}

/* MPI 4.1: MPI_Request_get_status over arrays. */
static word request_get_status_all(word count, const char *requests, int *flag, char *statuses)
{
    word error = 0;
    *flag = 1;
    for (int i = 0; i < (int)count && *flag && !(int)error; i++)
        error = real("PMPI_Request_get_status")(request_at(requests, i), flag, status_at(statuses, i));
    return error;
}

static word request_get_status_any(word count, const char *requests, int *index, int *flag, char *status)
{
    bool active = false;
    for (int i = 0; i < (int)count; i++) {
        if (request_at(requests, i) == abi.request_null) continue;
        active = true;
        word error = real("PMPI_Request_get_status")(request_at(requests, i), flag, status);
        *index = i;
        if ((int)error || *flag) return error;
    }
    *index = MPI_UNDEFINED_VALUE;
    *flag = !active;
    return active ? 0 : real("PMPI_Request_get_status")(abi.request_null, flag, status);
}

static word request_get_status_some(word count, const char *requests, int *outcount, int *indices, char *statuses)
{
    int n = 0, active = 0;
    for (int i = 0; i < (int)count; i++) {
        int flag = 0;
        if (request_at(requests, i) == abi.request_null) continue;
        active++;
        word error = real("PMPI_Request_get_status")(request_at(requests, i), &flag, status_at(statuses, n));
        if ((int)error) return error;
        if (flag) indices[n++] = i;
    }
    *outcount = active ? n : MPI_UNDEFINED_VALUE;
    return 0;
}

static const struct {
    const char *name;
    void *stand_in;
} stand_ins[] = {
    {"PMPI_Status_get_source", status_get_source},
    {"PMPI_Status_get_tag", status_get_tag},
    {"PMPI_Status_get_error", status_get_error},
    {"PMPI_Status_set_source", status_set_source},
    {"PMPI_Status_set_tag", status_set_tag},
    {"PMPI_Status_set_error", status_set_error},
    {"PMPI_Aint_add", aint_add},
    {"PMPI_Aint_diff", aint_diff},
    {"PMPI_Info_get_string", info_get_string},
    {"PMPI_Info_create_env", info_create_env},
    {"PMPI_Request_get_status_all", request_get_status_all},
    {"PMPI_Request_get_status_any", request_get_status_any},
    {"PMPI_Request_get_status_some", request_get_status_some},
};

/* PMPI_X_fromint is PMPI_X_f2c by another name, PMPI_X_toint PMPI_X_c2f; both may be missing in MPICH. */
static function conversion(const char *name)
{
    static const char *const pairs[][2] = {{"_fromint", "_f2c"}, {"_toint", "_c2f"}, {"_f2c", ""}, {"_c2f", ""}};
    for (int i = 0; i < 4; i++) {
        char older[64];
        size_t stem = strlen(name) - strlen(pairs[i][0]);
        if (strlen(name) <= strlen(pairs[i][0]) || strcmp(name + stem, pairs[i][0]) != 0) continue;
        snprintf(older, sizeof older, "%.*s%s", (int)stem, name, pairs[i][1]);
        function found = pairs[i][1][0] ? real(older) : NULL;
        return found ? found : abi.family == FAMILY_MPICH && !strstr(name, "_Status_") ? (function)same : NULL;
    }
    return NULL;
}

function missing_stand_in(const char *name)
{
    for (size_t i = 0; i < sizeof stand_ins / sizeof stand_ins[0]; i++)
        if (strcmp(stand_ins[i].name, name) == 0) return (function)stand_ins[i].stand_in;
    return conversion(name);
}
