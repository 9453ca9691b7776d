// A program that does not end in order: `ends HOW`. Some iterations of barriers and messages, then rank VICTIM
//     abort, abort-part, abort-handler, abort-signal, abort-threads, abort-finalize: calls MPI_Abort (see below)
//     segv, fpe, abrt, kill: dies by that signal while the others wait in MPI; in-call: inside of MPI_Send, by SIGSEGV
//     poll: dies by SIGSEGV while the others poll
//     error: calls MPI with a wrong argument, and MPI ends the run
//     bcast: dies before a broadcast that rank 0, its root, has finished
//     spawn: calls MPI_Abort while processes that it spawned wait for it
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VICTIM = 1, CODE = 5 };

static int rank, size;

static void by_handler(MPI_Comm *comm, int *error, ...)
{
    (void)error;
    MPI_Abort(*comm, CODE);
}
static void on_alarm(int signal)
{
    (void)signal;
    MPI_Abort(MPI_COMM_WORLD, CODE);
}

// A thread that stays in MPI.
static void *wait_for_ever(void *unused)
{
    int nothing;
    (void)unused;
    MPI_Recv(&nothing, 1, MPI_INT, rank, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static void *finalize(void *unused)
{
    (void)unused;
    MPI_Finalize();
    return NULL;
}

static void in_thread(void *(*what)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, what, NULL);
    usleep(300000);
    MPI_Abort(MPI_COMM_WORLD, CODE);
}

static void die(const char *how, MPI_Comm part, char **argv)
{
    volatile int zero = 0;
    int nothing;
    if (!strcmp(how, "abort")) MPI_Abort(MPI_COMM_WORLD, CODE);
    if (!strcmp(how, "abort-part")) MPI_Abort(part, CODE);
    if (!strcmp(how, "abort-handler")) {
        MPI_Errhandler handler;
        MPI_Comm_create_errhandler(by_handler, &handler);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
        MPI_Send(&nothing, 1, MPI_INT, size + 7, 0, MPI_COMM_WORLD);
    }
    if (!strcmp(how, "abort-signal")) {
        signal(SIGALRM, on_alarm);
        alarm(1);
        MPI_Recv(&nothing, 1, MPI_INT, rank, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (!strcmp(how, "abort-threads")) in_thread(wait_for_ever);
    if (!strcmp(how, "abort-finalize")) in_thread(finalize);
    if (!strcmp(how, "segv") || !strcmp(how, "poll")) *(volatile int *)16 = 1;
    if (!strcmp(how, "fpe")) rank /= zero;
    if (!strcmp(how, "abrt")) abort();
    if (!strcmp(how, "kill") || !strcmp(how, "bcast")) raise(SIGKILL);
    if (!strcmp(how, "in-call")) MPI_Send((void *)16, 1000, MPI_INT, 0, 5, MPI_COMM_WORLD);
    if (!strcmp(how, "error")) MPI_Send(&nothing, 1, MPI_INT, size + 7, 0, MPI_COMM_WORLD);
    if (!strcmp(how, "spawn")) {
        MPI_Comm children;
        char *arguments[] = {"child", NULL};
        MPI_Comm_spawn(argv[0], arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
        MPI_Recv(&nothing, 1, MPI_INT, 0, 3, children, MPI_STATUS_IGNORE);
        MPI_Abort(MPI_COMM_WORLD, CODE);
    }
}

static void be_a_child(void)
{
    MPI_Comm parent;
    int nothing = 0;
    MPI_Comm_get_parent(&parent);
    MPI_Send(&nothing, 1, MPI_INT, 0, 3, parent);
    MPI_Recv(&nothing, 1, MPI_INT, 0, 3, parent, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "abort";
    int level, seen = 0, sum = 0;
    MPI_Comm part;
    MPI_Init_thread(&argc, &argv, strncmp(how, "abort-", 6) ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(how, "child")) be_a_child();
    MPI_Comm_split(MPI_COMM_WORLD, rank == VICTIM, rank, &part);
    for (int i = 0; i < 20; i++) {
        MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 1, &seen, 1, MPI_INT, (rank + size - 1) % size, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (!strcmp(how, "bcast") && rank == 0) MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == VICTIM) {
        usleep(200000);
        die(how, part, argv);
        for (;;) pause(); // MPICH may come back from MPI_Abort, and kills us then
    }
    seen = 0;
    while (!strcmp(how, "poll") && !seen) MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &seen, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
