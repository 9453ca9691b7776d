/* Stands in for MPI under the broadcast's loop: notes what one rank asks for, in order. */
#include <stdint.h>

#include "calls_for_collectives.h"
#include "calls_of_mpi.h"

enum { SEND = 's', POST = 'p', WAIT = 'w' };

struct asked {
    int32_t what, peer, size;
    int64_t place; /* of the buffer */
};

struct asked asked[100000];
int32_t n_asked, fail_at = -1;
static int64_t places[2];
static int32_t posted;

static int note(int32_t what, int32_t peer, int32_t size, int64_t place)
{
    asked[n_asked] = (struct asked){what, peer, size, place};
    return n_asked++ == fail_at ? 15 : 0;
}

int mpi_send(const void *buffer, int bytes, int rank, int tag, intptr_t comm)
{
    (void)tag, (void)comm;
    return note(SEND, rank, bytes, (int64_t)(intptr_t)buffer);
}

int mpi_post(void *buffer, int bytes, int rank, int tag, intptr_t comm, intptr_t *request)
{
    (void)tag, (void)comm;
    *request = posted++ & 1;
    places[*request] = (int64_t)(intptr_t)buffer;
    return note(POST, rank, bytes, (int64_t)(intptr_t)buffer);
}

int mpi_wait(intptr_t *request)
{
    return note(WAIT, -1, 0, places[*request]);
}

int mpi_receive(void *buffer, int bytes, int rank, int tag, intptr_t comm)
{
    (void)buffer, (void)bytes, (void)rank, (void)tag, (void)comm;
    return 0;
}

int mpi_bcast(void *buffer, int bytes, int root, intptr_t comm)
{
    (void)comm;
    return note('b', root, bytes, (int64_t)(intptr_t)buffer);
}

int mpi_scatter(const void *from, void *to, int bytes, int root, intptr_t comm)
{
    (void)from, (void)comm;
    return note('c', root, bytes, (int64_t)(intptr_t)to);
}
