// Checks that a program sees only the children that it made.

#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHILDREN = 5 };

static volatile sig_atomic_t deaths;
static int handlers;

static void died(int signal)
{
    (void)signal;
    deaths++;
}

static void forking(void)
{
    handlers++;
}

static int descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < 1024; fd++) n += dup2(fd, fd) == fd;
    return n;
}

// Everything that wait() gives until there are no children; -1 where it ends in another way.
static int wait_for_all(int *codes)
{
    int status, n = 0;
    pid_t pid;
    while ((pid = wait(&status)) > 0 || errno == EINTR)
        if (pid > 0) {
            n++;
            *codes += WEXITSTATUS(status);
        }
    return errno == ECHILD ? n : -1;
}

// `children [adopt] SECONDS`: with "adopt" the program adopts orphans, as a subreaper.
int main(int argc, char **argv)
{
    int rank, before, codes = 0, go_on = 1, adopts = argc > 2 && !strcmp(argv[1], "adopt");
    struct sigaction action = {.sa_handler = died};
    struct timespec pause = {.tv_nsec = 10000000};
    sigset_t mask;
    if (adopts) prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigaction(SIGCHLD, &action, NULL);
    pthread_atfork(forking, forking, forking);
    MPI_Init(&argc, &argv);
    handlers = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    before = descriptors();
    int unasked = wait_for_all(&codes), early = deaths;
    for (int i = 0; i < CHILDREN; i++)
        if (fork() == 0) {
            nanosleep(&pause, NULL);
            _exit(i + 1);
        }
    int own = wait_for_all(&codes);
    for (double end = MPI_Wtime() + atof(argv[argc - 1]); go_on;) {
        nanosleep(&pause, NULL);
        go_on = MPI_Wtime() < end;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    codes += 1000 * (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD);
    prctl(PR_GET_CHILD_SUBREAPER, &adopts);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    int blocked = 0;
    for (int s = 1; s < NSIG; s++) blocked += sigismember(&mask, s) == 1;
    printf("rank %d: unasked %d early %d own %d codes %d handlers %d descriptors %d adopts %d blocked %d\n", rank,
           unasked, early, own, codes, handlers, before - descriptors(), adopts, blocked);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
