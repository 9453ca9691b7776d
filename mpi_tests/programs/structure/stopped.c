/* stopped STEPS WHICH: each step computes 8 ms of CPU time, exchanges with both neighbours, and adds up; in step WHICH
   (from 0), rank 1 is stopped (SIGSTOP) for 0.4 s in the middle of its computing. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SOME_NS = 4000000, N = 500 };

static void compute(void)
{
    struct timespec first, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &first);
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - first.tv_sec) * 1000000000L + now.tv_nsec - first.tv_nsec < SOME_NS);
}

/* A process that has us go on 0.4 s after a byte has come; more than once, in case that we were not stopped yet. */
static int watcher(void)
{
    int pipes[2];
    pid_t stopped = getpid();
    if (pipe(pipes)) exit(2);
    if (fork()) return pipes[1];
    char byte;
    close(pipes[1]);
    if (read(pipes[0], &byte, 1) == 1)
        for (int times = 0; times < 5; times++) {
            nanosleep(&(struct timespec){.tv_nsec = 400000000}, NULL);
            kill(stopped, SIGCONT);
        }
    _exit(0);
}

int main(int argc, char **argv)
{
    static double here[N], there[N];
    int rank, size, steps = atoi(argv[1]), which = atoi(argv[argc - 1]), to_watcher = watcher();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int step = 0; step < steps; step++) {
        double sum, one = 1;
        compute();
        if (step == which && rank == 1 && write(to_watcher, "x", 1) == 1) raise(SIGSTOP);
        compute();
        MPI_Sendrecv(here, N, MPI_DOUBLE, right, 1, there, N, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    close(to_watcher);
    MPI_Finalize();
    return 0;
}
