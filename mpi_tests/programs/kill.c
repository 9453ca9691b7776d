// Two ranks that send each other messages for ever, each counting its completed calls in a file it maps shared,
// so that the count outlives a SIGKILL: whatever the file says was completed must be in the trace.
//
// The count is raised after a call has returned, so the trace may hold one call more, never one less.

#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct progress {
    volatile uint64_t pid, completed;
};

static struct progress *map_progress(int rank)
{
    char name[32];
    snprintf(name, sizeof name, "progress-%d", rank);
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(struct progress)) != 0) exit(4);
    return mmap(NULL, sizeof(struct progress), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

int main(int argc, char **argv)
{
    int rank, mine = 0, theirs = 0;
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct progress *progress = map_progress(rank);
    progress->completed = 1; // MPI_Init
    progress->pid = getpid();
    for (;;) {
        MPI_Request request;
        MPI_Irecv(&theirs, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
        progress->completed++;
        MPI_Send(&mine, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
        progress->completed++;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        progress->completed++;
        for (int i = 0; i < 3; i++) {
            MPI_Send(&mine, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
            progress->completed++;
        }
        mine++;
    }
}
