// Ranks that are not in MPI and lack a CPU, in several ways, and what the kernel says of it meanwhile.
//     off_cpu WAY STEPS MILLISECONDS
// WAY: timer, pipe, child, lock (they sleep), work (they compute), short (many sleeps of 100 us before each barrier).
// Writes off_cpu-RANK: "ns by the clock, ns of CPU time, ns of run delay" (-1: not known) outside MPI.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int64_t delay(void)
{
    long long ran, waited, times;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    int n = file ? fscanf(file, "%lld %lld %lld", &ran, &waited, &times) : 0;
    if (file) fclose(file);
    return n == 3 && times ? waited : -1;
}

static void child(int ms, int pipe_end)
{
    usleep(ms * 1000);
    if (pipe_end >= 0 && write(pipe_end, "x", 1) != 1) _exit(1);
    _exit(0);
}

static void in_child(int ms, int with_pipe)
{
    int ends[2], status;
    char byte;
    if (pipe(ends)) abort();
    pid_t pid = fork();
    if (!pid) child(ms, with_pipe ? ends[1] : -1);
    if (with_pipe && read(ends[0], &byte, 1) != 1) abort();
    waitpid(pid, &status, 0);
    close(ends[0]);
    close(ends[1]);
}

// A child holds the lock for a while.
static void locked(int ms, int rank)
{
    char name[64];
    int ends[2], status;
    char byte;
    snprintf(name, sizeof name, "off_cpu-lock-%d", rank);
    if (pipe(ends)) abort();
    pid_t pid = fork();
    if (!pid) {
        int fd = open(name, O_RDWR | O_CREAT, 0600);
        flock(fd, LOCK_EX);
        if (write(ends[1], "x", 1) != 1) _exit(1);
        child(ms, -1);
    }
    if (read(ends[0], &byte, 1) != 1) abort();
    int fd = open(name, O_RDWR | O_CREAT, 0600);
    flock(fd, LOCK_EX);
    close(fd);
    waitpid(pid, &status, 0);
    close(ends[0]);
    close(ends[1]);
}

static void work(int ms)
{
    volatile double x = 1;
    for (int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ms * INT64_C(1000000); now(CLOCK_THREAD_CPUTIME_ID) < end;)
        for (int i = 0; i < 1000; i++) x = x * 1.0000001;
}

static void step(const char *way, int ms, int rank)
{
    if (!strcmp(way, "timer")) usleep(ms * 1000);
    if (!strcmp(way, "pipe")) in_child(ms, 1);
    if (!strcmp(way, "child")) in_child(ms, 0);
    if (!strcmp(way, "lock")) locked(ms, rank);
    if (!strcmp(way, "work")) work(ms);
    if (!strcmp(way, "short"))
        for (int i = 0; i < ms * 5; i++) usleep(100);
}

int main(int argc, char **argv)
{
    int rank, steps = atoi(argv[2]), ms = atoi(argv[3]);
    int64_t wall = 0, cpu = 0, waited = 0;
    char name[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < steps; i++) {
        int64_t before[3] = {now(CLOCK_MONOTONIC), now(CLOCK_THREAD_CPUTIME_ID), delay()};
        step(argv[1], ms, rank);
        wall += now(CLOCK_MONOTONIC) - before[0];
        cpu += now(CLOCK_THREAD_CPUTIME_ID) - before[1];
        waited += before[2] < 0 ? -1 : delay() - before[2];
        MPI_Barrier(MPI_COMM_WORLD);
    }
    snprintf(name, sizeof name, "off_cpu-%d", rank);
    FILE *file = fopen(name, "w");
    fprintf(file, "%lld %lld %lld\n", (long long)wall, (long long)cpu, (long long)waited);
    fclose(file);
    MPI_Finalize();
    return 0;
}
