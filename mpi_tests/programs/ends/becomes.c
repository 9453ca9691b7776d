// A rank that becomes another program in the midst of MPI: `becomes N [PROGRAM ARGUMENT...]` calls MPI_Barrier N times
// and replaces itself without MPI_Finalize; without a program it finalizes. It says what it was given to start with.

#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int open_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int n = 0;
    while (readdir(folder)) n++;
    closedir(folder);
    return n;
}

int main(int argc, char **argv)
{
    int n = atoi(argv[1]), given = open_descriptors();
    MPI_Init(NULL, NULL);
    for (int i = 0; i < n; i++) MPI_Barrier(MPI_COMM_WORLD);
    printf("%d barriers, %d descriptors\n", n, given);
    fflush(stdout);
    if (argc > 2) {
        execvp(argv[2], argv + 2);
        return 3;
    }
    MPI_Finalize();
    return 0;
}
