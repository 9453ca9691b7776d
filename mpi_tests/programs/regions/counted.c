// Touches a known number of new pages between every two MPI calls, and reads its own CPU clock around that:
// what counters must show of each burst. `counted BURSTS [THREADS]` writes truth-<rank>-<thread>: "pages ns" lines.

#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BURSTS = 4096, MOST_PAGES = 40 };

static int bursts, rank;

static long cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

// New pages of 4096 bytes each: large ones would come many at a time.
static volatile char *new_pages(long page)
{
    size_t bytes = (size_t)(page * MOST_PAGES * (bursts + 1));
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || madvise(memory, bytes, MADV_NOHUGEPAGE)) exit(4);
    return memory;
}

static void *work(void *number)
{
    int thread = (int)(intptr_t)number;
    long page = sysconf(_SC_PAGESIZE), ns[MOST_BURSTS];
    int touched[MOST_BURSTS];
    volatile char *memory = new_pages(page);
    for (int i = 0; i < MOST_BURSTS; i++) ns[i] = touched[i] = 0; // these pages are there now
    cpu_ns();
    for (int i = 0; i <= bursts; i++) {
        MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, thread, MPI_COMM_WORLD);
        if (i == bursts) break;
        long begin = cpu_ns();
        touched[i] = (i * 7 + thread * 3) % MOST_PAGES;
        for (int k = 0; k < touched[i]; k++) memory[page * k] = 1;
        memory += page * touched[i];
        for (volatile int k = 0; k < 2000; k++) {
        }
        ns[i] = cpu_ns() - begin;
    }
    char name[64];
    snprintf(name, sizeof name, "truth-%d-%d", rank, thread);
    FILE *truth = fopen(name, "w");
    for (int i = 0; i < bursts; i++) fprintf(truth, "%d %ld\n", touched[i], ns[i]);
    fclose(truth);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 2 ? atoi(argv[2]) : 1, level;
    pthread_t others[16];
    bursts = atoi(argv[1]);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < threads; i++) pthread_create(&others[i], NULL, work, (void *)(intptr_t)i);
    work(0);
    for (int i = 1; i < threads; i++) pthread_join(others[i], NULL);
    MPI_Finalize();
    return 0;
}
