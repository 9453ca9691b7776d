#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "calls_of_mpi.h"
#include "resolve.h"

/* Handles are addresses or ints: each kind of MPI is called with its own types. */
typedef int wide_send(const void *, int, void *, int, int, void *);
typedef int wide_receive(void *, int, void *, int, int, void *, void *);
typedef int wide_barrier(void *);
typedef int narrow_send(const void *, int, int, int, int, int);
typedef int narrow_receive(void *, int, int, int, int, int, void *);
typedef int narrow_barrier(int);

static void *the_send, *the_receive, *the_barrier;

void *mpi_function(const char *name)
{
    void *p = dlsym(RTLD_DEFAULT, name);
    return p ? p : resolve_symbol(name);
}

bool mpi_open(void)
{
    if (!abi_detect()) return false;
    the_send = mpi_function("MPI_Send");
    the_receive = mpi_function("MPI_Recv");
    the_barrier = mpi_function("MPI_Barrier");
    return the_send && the_receive && the_barrier;
}

int mpi_send(const void *buffer, int bytes, int rank, int tag, intptr_t comm)
{
    if (abi.wide_handles) return ((wide_send *)the_send)(buffer, bytes, (void *)abi.byte, rank, tag, (void *)comm);
    return ((narrow_send *)the_send)(buffer, bytes, (int)abi.byte, rank, tag, (int)comm);
}

int mpi_receive(void *buffer, int bytes, int rank, int tag, intptr_t comm)
{
    void *status = (void *)abi.status_ignore;
    if (abi.wide_handles)
        return ((wide_receive *)the_receive)(buffer, bytes, (void *)abi.byte, rank, tag, (void *)comm, status);
    return ((narrow_receive *)the_receive)(buffer, bytes, (int)abi.byte, rank, tag, (int)comm, status);
}

int mpi_barrier(intptr_t comm)
{
    return abi.wide_handles ? ((wide_barrier *)the_barrier)((void *)comm) : ((narrow_barrier *)the_barrier)((int)comm);
}
