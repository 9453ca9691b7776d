// Each rank forks a child in the middle of its work; the child ends by exit, running every handler of the parent.

#include "truth.h"

#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int value = 1, sum;
    CALL(MPI_Init, &argc, &argv);
    truth_begin();
    for (int i = 0; i < 300; i++) CALL(MPI_Allreduce, &value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) exit(0);
    waitpid(child, NULL, 0);
    for (int i = 0; i < 300; i++) CALL(MPI_Allreduce, &value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CALL(MPI_Finalize);
    truth_write();
    return 0;
}
