// The program behind version_1.tar.xz, whose figures tests/test_old_files.py knows: two ranks under Open MPI.
//
//     TRACELIB_SPOOL=spool TRACELIB_OUTPUT=ended mpirun -n 2 ./version_1
//     TRACELIB_SPOOL=spool TRACELIB_OUTPUT=killed TRACELIB_BUFFER=16K mpirun -n 2 ./version_1 killed
//
// The second run ends by SIGKILL: rank 0 between two calls, rank 1 at the FATAL_WRITE-th write to its rank file, in the
// middle of a flush.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FATAL_WRITE = 51 };

static int rank, doomed, fatal_writes;

// The program's pwrite goes before libc's: it sees what the tracer writes.
ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at)
{
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (!real) real = (ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
    if (doomed && rank == 1 && ++fatal_writes == FATAL_WRITE) raise(SIGKILL);
    return real(fd, data, bytes, at);
}

static void exchange(MPI_Comm comm, int mate)
{
    static char out[4096], in[4096];
    MPI_Request requests[2];
    for (int i = 0; i < 10; i++) {
        MPI_Irecv(in, sizeof in, MPI_CHAR, mate, i, comm, &requests[0]);
        MPI_Isend(out, 100 * (i + 1) + rank, MPI_CHAR, mate, i, comm, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Send_init(out, 64, MPI_CHAR, mate, 77, comm, &requests[0]);
    MPI_Recv_init(in, 64, MPI_CHAR, MPI_ANY_SOURCE, 77, comm, &requests[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 2; i++) MPI_Request_free(&requests[i]);
    for (int i = 0; i < 4; i++)
        MPI_Sendrecv(out, 8, MPI_CHAR, mate, 5, in, 8, MPI_CHAR, mate, 5, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int flag, sum, killed = argc > 1 && strcmp(argv[1], "killed") == 0;
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    exchange(copy, 1 - rank);
    for (int i = 0; i < 50; i++) MPI_Iprobe(1 - rank, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    for (int i = 0; i < 5; i++) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; killed && i < 1000; i++) {
        MPI_Send(&sum, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
        doomed = 1;
        if (rank == 0 && i == 799) sleep(1), raise(SIGKILL); // rank 1 is dead by now
        if (rank == 1) fprintf(stderr, "%d\n", i + 1);       // MPI_Sends completed
    }
    MPI_Comm_free(&copy);
    MPI_Finalize();
    return 0;
}
