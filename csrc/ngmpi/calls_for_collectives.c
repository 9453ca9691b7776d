#include <stdbool.h>
#include <stdint.h>

#include "calls_for_collectives.h"
#include "calls_of_mpi.h"
#include "mpi/abi.h"

/* Handles are addresses or ints: each kind of MPI is called with its own types. */
typedef int wide_post(void *, int, void *, int, int, void *, void *);
typedef int wide_bcast(void *, int, void *, int, void *);
typedef int wide_scatter(const void *, int, void *, void *, int, void *, int, void *);
typedef int narrow_post(void *, int, int, int, int, int, void *);
typedef int narrow_bcast(void *, int, int, int, int);
typedef int narrow_scatter(const void *, int, int, void *, int, int, int, int);
typedef int either_wait(void *, void *);

static void *the_post, *the_wait, *the_bcast, *the_scatter;

bool mpi_open_more(void)
{
    if (!mpi_open()) return false;
    the_post = mpi_function("MPI_Irecv");
    the_wait = mpi_function("MPI_Wait");
    the_bcast = mpi_function("MPI_Bcast");
    the_scatter = mpi_function("MPI_Scatter");
    return the_post && the_wait && the_bcast && the_scatter;
}

int mpi_post(void *buffer, int bytes, int rank, int tag, intptr_t comm, intptr_t *request)
{
    *request = 0;
    if (abi.wide_handles)
        return ((wide_post *)the_post)(buffer, bytes, (void *)abi.byte, rank, tag, (void *)comm, request);
    return ((narrow_post *)the_post)(buffer, bytes, (int)abi.byte, rank, tag, (int)comm, request);
}

int mpi_wait(intptr_t *request)
{
    return ((either_wait *)the_wait)(request, (void *)abi.status_ignore);
}

int mpi_bcast(void *buffer, int bytes, int root, intptr_t comm)
{
    if (abi.wide_handles) return ((wide_bcast *)the_bcast)(buffer, bytes, (void *)abi.byte, root, (void *)comm);
    return ((narrow_bcast *)the_bcast)(buffer, bytes, (int)abi.byte, root, (int)comm);
}

int mpi_scatter(const void *from, void *to, int bytes, int root, intptr_t comm)
{
    if (abi.wide_handles) {
        void *byte = (void *)abi.byte;
        return ((wide_scatter *)the_scatter)(from, bytes, byte, to, bytes, byte, root, (void *)comm);
    }
    int byte = (int)abi.byte;
    return ((narrow_scatter *)the_scatter)(from, bytes, byte, to, bytes, byte, root, (int)comm);
}
