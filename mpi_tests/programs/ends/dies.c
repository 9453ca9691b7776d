// A program that makes MPI calls in several threads until it dies: `dies THREADS DEATH AT`. After AT calls of one of
// its threads it dies by its own hand as DEATH says (see `deaths`), or, with "wait", goes on until somebody kills it.
//
// Each thread counts its completed calls in a file mapped shared, so that the counts outlive any death: what they say
// was completed must be in the trace. A count is raised after the call has returned, so the trace may hold one call
// more, never one less. Deaths that run exit's handlers let other threads go on meanwhile: for these the counts at the
// moment when the death began are noted, too.

#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

enum { MOST_THREADS = 4, CYCLE = 7, NOBODYS_TAG = 31000 };

struct progress {
    volatile uint64_t pid, ending;
    volatile uint64_t completed[MOST_THREADS], noted[MOST_THREADS];
};

static struct progress *progress;
static int threads, rank, size, death;
static uint64_t fatal_call;
static pthread_barrier_t turn;
static volatile int stop;

static struct progress *map_progress(void)
{
    const char *open_mpi = getenv("OMPI_COMM_WORLD_RANK"), *mpich = getenv("PMI_RANK");
    char name[64];
    snprintf(name, sizeof name, "progress-%s", open_mpi ? open_mpi : mpich ? mpich : "0");
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(struct progress)) != 0) exit(4);
    return mmap(NULL, sizeof(struct progress), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static void note_counts(void)
{
    for (int i = 0; i < threads; i++) progress->noted[i] = progress->completed[i];
    progress->ending = 1;
}

static void by_abort(void)
{
    abort();
}
static void by_early_exit(void)
{
    _exit(3);
}
static void by_exit(void)
{
    note_counts();
    exit(3);
}
static void in_handler(int number)
{
    (void)number;
    by_exit();
}
// Not allowed by POSIX, and common.
static void by_exit_in_handler(void)
{
    struct itimerval soon = {.it_value.tv_usec = 1 + (long)fatal_call % 5000};
    signal(SIGALRM, in_handler);
    setitimer(ITIMER_REAL, &soon, NULL);
}
static void by_mpi_abort(void)
{
    note_counts();
    MPI_Abort(MPI_COMM_WORLD, 3);
}
static void by_null_pointer(void)
{
    *(volatile int *)NULL = 0;
}
static int by_deep_recursion(volatile char *above)
{
    volatile char frame[4096];
    frame[0] = above ? above[0] : 0;
    return by_deep_recursion(frame) + frame[0];
}
static void by_stack_overflow(void)
{
    by_deep_recursion(NULL);
}
// Go on without memory for a while, then give up, as C++ does.
static void by_lack_of_memory(void)
{
    struct rlimit limit = {1 << 20, 1 << 20};
    int value = 0;
    setrlimit(RLIMIT_AS, &limit);
    while (malloc(1 << 12)) continue;
    for (int i = 0; i < 500; i++) PMPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF);
    abort();
}
static void by_finalize(void)
{
    stop = 1;
}
static void not_at_all(void) {}

static const struct {
    const char *name;
    void (*die)(void);
} deaths[] = {{"wait", not_at_all},
              {"finalize", by_finalize},
              {"abort", by_abort},
              {"early-exit", by_early_exit},
              {"exit", by_exit},
              {"exit-in-handler", by_exit_in_handler},
              {"mpi-abort", by_mpi_abort},
              {"null-pointer", by_null_pointer},
              {"stack-overflow", by_stack_overflow},
              {"no-memory", by_lack_of_memory}};

static void count(int thread)
{
    if (++progress->completed[thread] == fatal_call && thread == (int)(fatal_call % (uint64_t)threads))
        deaths[death].die();
}

static void call_in_cycles(int thread)
{
    int mine = thread, theirs, flag, mate = size == 2 && thread == 0 ? 1 - rank : MPI_PROC_NULL;
    MPI_Request request;
    for (int i = 0; !stop; i = (i + 1) % 30000) {
        MPI_Send(&mine, 1, MPI_INT, MPI_PROC_NULL, i, MPI_COMM_WORLD);
        count(thread);
        MPI_Irecv(&theirs, 1, MPI_INT, MPI_PROC_NULL, i, MPI_COMM_WORLD, &request);
        count(thread);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        count(thread);
        MPI_Iprobe(MPI_ANY_SOURCE, NOBODYS_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        count(thread);
        MPI_Isend(&mine, 1, MPI_INT, MPI_PROC_NULL, i, MPI_COMM_WORLD, &request);
        count(thread);
        MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
        count(thread);
        MPI_Sendrecv(&mine, 1, MPI_INT, mate, i, &theirs, 1, MPI_INT, mate, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        count(thread);
        if (size > 1) usleep(200); // a launcher takes its time to kill the others
    }
}

// The threads make their first calls in turn: so the trace numbers them as the program does.
static void *thread_main(void *number)
{
    int thread = (int)(intptr_t)number, value = 0;
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF);
    count(thread);
    pthread_barrier_wait(&turn);
    call_in_cycles(thread);
    return NULL;
}

int main(int argc, char **argv)
{
    struct rlimit no_core = {0, 0};
    int flag, provided;
    pthread_t others[MOST_THREADS];
    setrlimit(RLIMIT_CORE, &no_core);
    threads = atoi(argv[1]);
    while (strcmp(deaths[death].name, argv[2]) != 0) death++;
    fatal_call = strtoull(argv[3], NULL, 10);
    progress = map_progress();
    progress->pid = (uint64_t)getpid();

    MPI_Initialized(&flag);
    count(0);
    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    count(0);
    pthread_barrier_init(&turn, NULL, 2);
    for (int i = 1; i < threads; i++) {
        pthread_create(&others[i], NULL, thread_main, (void *)(intptr_t)i);
        pthread_barrier_wait(&turn);
    }
    call_in_cycles(0);
    for (int i = 1; i < threads; i++) pthread_join(others[i], NULL);
    MPI_Finalize();
    count(0);
    MPI_Finalized(&flag);
    count(0);
    return 0;
}
