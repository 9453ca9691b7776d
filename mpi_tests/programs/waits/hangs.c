/* Computes for 0.2 s and hangs: rank 1 in a receive that nobody sends to, the others in a barrier. With a number, the
 * kernel kills each rank so many seconds after that. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

static void compute(double seconds)
{
    static volatile double sum;
    double until = MPI_Wtime() + seconds;
    while (MPI_Wtime() < until) sum += 1.0;
}

static void die_in(int seconds)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec once = {.it_value.tv_sec = seconds};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &once, NULL)) exit(1);
}

int main(int argc, char **argv)
{
    int rank, data;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    compute(0.2);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1) die_in(atoi(argv[1]));
    if (rank == 1)
        MPI_Recv(&data, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
