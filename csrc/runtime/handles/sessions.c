#include "handles/sessions.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/pmpi.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    word *handles;
    size_t n, room;
} open;

void sessions_opened(word session)
{
    pthread_mutex_lock(&lock);
    if (open.n == open.room) {
        size_t room = open.room ? 2 * open.room : 8;
        word *handles = realloc(open.handles, room * sizeof *handles);
        if (handles) {
            open.handles = handles;
            open.room = room;
        }
    }
    if (open.n < open.room) open.handles[open.n++] = session;
    pthread_mutex_unlock(&lock);
}

void sessions_closing(word session)
{
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < open.n && open.handles[i] != session) i++;
    if (i < open.n) {
        memmove(open.handles + i, open.handles + i + 1, (open.n - i - 1) * sizeof *open.handles);
        open.n--;
    }
    pthread_mutex_unlock(&lock);
}

bool sessions_are_open(void)
{
    return __atomic_load_n(&open.n, __ATOMIC_RELAXED) != 0;
}

bool sessions_world(word *group)
{
    *group = 0;
    pthread_mutex_lock(&lock); /* the session must stay open meanwhile */
    bool found = open.n && pmpi.Group_from_session_pset &&
                 pmpi.Group_from_session_pset(open.handles[0], "mpi://WORLD", group) == 0;
    pthread_mutex_unlock(&lock);
    return found;
}

bool sessions_place(int *rank, int *size)
{
    word group;
    if (!sessions_world(&group)) return false;
    bool known = !pmpi.Group_rank(pmpi_handle(&group), rank) && !pmpi.Group_size(pmpi_handle(&group), size);
    pmpi.Group_free(&group);
    return known && *rank >= 0;
}

/* Members find each other by the text, whatever communicators their other threads are making. */
bool sessions_join(word *comm)
{
    word group;
    *comm = 0;
    if (!pmpi.Comm_create_from_group || !sessions_world(&group)) return false;
    int error = pmpi.Comm_create_from_group(pmpi_handle(&group), "tracelib: all processes", abi.info_null,
                                            abi.errors_return, comm);
    pmpi.Group_free(&group);
    return error == 0;
}
