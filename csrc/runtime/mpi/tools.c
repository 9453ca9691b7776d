#include "mpi/tools.h"

#include <stddef.h>

#include "mpi/internal/libraries.h"

static void *defined(const struct link_map *l, const char *name)
{
    struct symbols s;
    return symbols_open(&s, l->l_addr, l->l_ld) ? symbols_find(&s, name) : NULL;
}

/* The first library from `l` on, up to `end`, that defines this name; NULL: none does, or it is one of MPI. */
static const struct link_map *first_tool(const struct link_map *l, const struct link_map *end, const char *name)
{
    while (l && l != end && !defined(l, name)) l = libraries_next(l);
    return l && l != end && !libraries_is_mpi(l) ? l : NULL;
}

static const struct link_map *tool_ahead(const char *name)
{
    const struct link_map *own = libraries_own();
    return own ? first_tool(libraries_loaded(), own, name) : NULL;
}

static const struct link_map *tool_behind(const char *name)
{
    const struct link_map *own = libraries_own();
    return own ? first_tool(libraries_next(own), NULL, name) : NULL;
}

void *tools_next(const char *name)
{
    const struct link_map *tool = tool_behind(name);
    return tool ? defined(tool, name) : NULL;
}

bool tools_precede(const char *name)
{
    return tool_ahead(name);
}

/* The first of a kind of look-up, by any of the names under which programs begin with MPI. */
static const char *path_of(const struct link_map *(*look)(const char *name))
{
    static const char *const begins[] = {"MPI_Init",      "MPI_Init_thread",      "mpi_init_",       "mpi_init_thread_",
                                         "mpi_init_f08_", "mpi_init_thread_f08_", "MPI_Session_init"};
    const struct link_map *tool = NULL;
    for (size_t i = 0; !tool && i < sizeof begins / sizeof begins[0]; i++) tool = look(begins[i]);
    return tool ? tool->l_name : NULL;
}

const char *tools_ahead(void)
{
    return path_of(tool_ahead);
}

const char *tools_behind(void)
{
    return path_of(tool_behind);
}

bool tools_is_one(const struct link_map *library)
{
    return defined(library, "MPI_Init") || defined(library, "PMPI_Init") || libraries_is_mpi(library);
}
