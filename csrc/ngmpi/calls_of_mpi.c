#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "calls_of_mpi.h"
#include "mpi/abi.h"
#include "mpi/detect.h"
#include "mpi/resolve.h"

/* Handles are addresses or ints: each kind of MPI is called with its own types. */
typedef int wide_send(const void *, int, void *, int, int, void *);
typedef int wide_receive(void *, int, void *, int, int, void *, void *);
typedef int wide_ibarrier(void *, void *);
typedef int narrow_send(const void *, int, int, int, int, int);
typedef int narrow_receive(void *, int, int, int, int, int, void *);
typedef int narrow_ibarrier(int, void *);
typedef int test(void *, int *, void *);

static void *the_send, *the_receive, *the_ibarrier, *the_test;

void *mpi_function(const char *name)
{
    void *p = dlsym(RTLD_DEFAULT, name);
    return p ? p : resolve_symbol(name);
}

bool mpi_open(void)
{
    char why[UNKNOWN_MPI_ROOM];
    if (!detect_mpi(why)) return false;
    the_send = mpi_function("MPI_Send");
    the_receive = mpi_function("MPI_Recv");
    the_ibarrier = mpi_function("MPI_Ibarrier");
    the_test = mpi_function("MPI_Test");
    return the_send && the_receive && the_ibarrier && the_test;
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

int mpi_polite_barrier(intptr_t comm)
{
    enum { EAGER_TESTS = 100, NAP_NS = 20000 };
    void *request = NULL; /* room for the larger kind */
    int error = abi.wide_handles ? ((wide_ibarrier *)the_ibarrier)((void *)comm, &request)
                                 : ((narrow_ibarrier *)the_ibarrier)((int)comm, &request);
    int done = 0;
    for (int tests = 0; !error && !done; tests++) {
        if (tests > EAGER_TESTS) nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        error = ((test *)the_test)(&request, &done, (void *)abi.status_ignore);
    }
    return error;
}
