/* Other tools that stand between the program and MPI: libraries that define procedures of MPI, as ours does.
 *
 * The program's call comes to the first that defines its name. Ours passes it to the next one, which may be another
 * tool: it would get the call if we were not there. */
#ifndef TOOLS_H
#define TOOLS_H

#include <link.h>
#include <stdbool.h>

/* The function of that name that the dynamic linker would find behind us, if it is a tool's; NULL: MPI's comes next. */
void *tools_next(const char *name);

/* Does a tool in front of us have that name? Then it gets the call, and may pass it to MPI without us. */
bool tools_precede(const char *name);

/* The path of the first tool ahead of us that gets the program's calls of MPI_Init; "" if that is the program itself;
 * NULL: there is none. */
const char *tools_ahead(void);

/* The same behind us, where it gets our calls of MPI_Init. */
const char *tools_behind(void);

/* Does a library define MPI_Init or PMPI_Init: is it a tool or MPI itself? */
bool tools_is_one(const struct link_map *library);

#endif
