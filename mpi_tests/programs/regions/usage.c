// Notes the kernel's counts of a thread (getrusage) between every two MPI calls, in which it touches new pages
// and sleeps: what counters of the kernel must show of each burst. `usage BURSTS` writes truth-<rank>: lines of "minor
// major switches" of a burst.

#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_BURSTS = 1024, MOST_PAGES = 10 };

int main(int argc, char **argv)
{
    static struct rusage before[MOST_BURSTS], after[MOST_BURSTS];
    int rank, bursts = atoi(argv[1]);
    long page = sysconf(_SC_PAGESIZE);
    size_t bytes = (size_t)(page * MOST_PAGES * MOST_BURSTS);
    for (int i = 0; i < MOST_BURSTS; i++) before[i].ru_minflt = after[i].ru_minflt = 1; // these pages are there now
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    volatile char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || madvise((void *)memory, bytes, MADV_NOHUGEPAGE)) exit(4);
    for (int i = 0; i < bursts; i++) {
        MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
        getrusage(RUSAGE_THREAD, &before[i]);
        for (int k = 0; k < i % MOST_PAGES; k++, memory += page) *memory = 1;
        for (int k = 0; k < i % 3; k++) usleep(50);
        getrusage(RUSAGE_THREAD, &after[i]);
    }
    MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    char name[64];
    snprintf(name, sizeof name, "truth-%d", rank);
    FILE *truth = fopen(name, "w");
    for (int i = 0; i < bursts; i++)
        fprintf(truth, "%ld %ld %ld\n", after[i].ru_minflt - before[i].ru_minflt,
                after[i].ru_majflt - before[i].ru_majflt,
                after[i].ru_nvcsw + after[i].ru_nivcsw - before[i].ru_nvcsw - before[i].ru_nivcsw);
    fclose(truth);
    MPI_Finalize();
    return 0;
}
