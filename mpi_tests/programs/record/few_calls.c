// Records as few calls as there are: run with TRACELIB_START=off, `few_calls on` switches tracing on before
// MPI_Finalize.

#include <mpi.h>

int main(int argc, char **argv)
{
    int switches = argc > 1;
    MPI_Init(&argc, &argv);
    if (switches) MPI_Pcontrol(1);
    MPI_Finalize();
    return 0;
}
