// A message in flight when its sender dies: `inflight ssend|isend`, two ranks. Rank 1 is stopped in an MPI_Ssend, or
// after an MPI_Isend; rank 0 receives the message, which has arrived all the same, and then kills rank 1.
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static char data[8];

static void send(int posted)
{
    MPI_Request request;
    int pid = getpid();
    MPI_Send(&pid, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (posted)
        MPI_Isend(data, sizeof data, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
    else
        MPI_Ssend(data, sizeof data, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    sleep(3);
}

static void receive(void)
{
    int sender;
    MPI_Recv(&sender, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(300000);
    kill(sender, SIGSTOP);
    usleep(100000);
    MPI_Recv(data, sizeof data, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(100000);
    kill(sender, SIGKILL);
    sleep(2);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        send(strcmp(argv[1], "isend") == 0);
    else
        receive();
    MPI_Finalize();
    return 0;
}
