/* Each of THREADS threads computes for MS milliseconds, at times on fresh pages, and notes before and after each step
 * the time, its CPU time and its page faults, as the kernel counts them: truth-RANK-THREAD. With MPI the first thread
 * waits for the others of its kind now and then. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifndef ALONE
#include <mpi.h>
#endif

#include "tracelib.h"

enum { MOST_NOTES = 1 << 16, MOST_THREADS = 16, STEP_NS = 200000, PAGE = 4096 };

struct note {
    int64_t time, cpu, faults;
};
static struct note notes[MOST_THREADS][MOST_NOTES];
static int count[MOST_THREADS], rank, duration_ms;

static int64_t now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* The earliest and the latest that a sample of these values can have been taken: the time is read first and last. */
static void note(int thread, int last)
{
    struct note *n = &notes[thread][count[thread]++];
    struct rusage usage;
    if (!last) n->time = now(CLOCK_MONOTONIC);
    n->cpu = now(CLOCK_THREAD_CPUTIME_ID);
    getrusage(RUSAGE_THREAD, &usage);
    n->faults = usage.ru_minflt + usage.ru_majflt;
    if (last) n->time = now(CLOCK_MONOTONIC);
}

static void compute(int step)
{
    int64_t until = now(CLOCK_THREAD_CPUTIME_ID) + STEP_NS;
    if (step % 4 == 0) {
        volatile char *pages = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (int i = 0; i < 8; i++) pages[i * PAGE] = 1;
        munmap((void *)pages, 8 * PAGE);
    }
    while (now(CLOCK_THREAD_CPUTIME_ID) < until) continue;
}

static void *work(void *data)
{
    int thread = (int)(intptr_t)data;
    int64_t until = now(CLOCK_MONOTONIC) + duration_ms * INT64_C(1000000);
    tracelib_region_begin("work");
    tracelib_event(1000, thread);
    for (int step = 0; now(CLOCK_MONOTONIC) < until && count[thread] + 2 < MOST_NOTES; step++) {
#ifndef ALONE
        MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, thread, MPI_COMM_WORLD);
#endif
        note(thread, 0);
        compute(step);
        note(thread, 1);
    }
    tracelib_region_end("work");
    return NULL;
}

static void write_notes(int thread)
{
    char name[64];
    snprintf(name, sizeof name, "truth-%d-%d", rank, thread);
    FILE *f = fopen(name, "w");
    for (int i = 0; i < count[thread]; i++)
        fprintf(f, "%lld %lld %lld\n", (long long)notes[thread][i].time, (long long)notes[thread][i].cpu,
                (long long)notes[thread][i].faults);
    fclose(f);
}

int main(int argc, char **argv)
{
    int threads = argc > 2 ? atoi(argv[2]) : 1;
    const char *mode = argc > 3 ? argv[3] : "";
    pthread_t others[MOST_THREADS];
    duration_ms = argc > 1 ? atoi(argv[1]) : 100;
#ifndef ALONE
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    if (strcmp(mode, "forks") == 0) {
        tracelib_event(1001, 1); /* from here on samples are taken */
        if (fork() == 0) {
            for (int step = 0; step < 100; step++) compute(step);
            exit(0);
        }
    }
    for (int i = 1; i < threads; i++) pthread_create(&others[i], NULL, work, (void *)(intptr_t)i);
    work((void *)0);
    for (int i = 1; i < threads; i++) pthread_join(others[i], NULL);
    for (int i = 0; i < threads; i++) write_notes(i);
    if (strcmp(mode, "dies") == 0) kill(getpid(), SIGKILL);
    int children = 0;
    while (wait(NULL) > 0) children++;
    printf("children: %d\n", children);
#ifndef ALONE
    MPI_Finalize();
#endif
    return 0;
}
