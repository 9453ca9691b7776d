// A program with counters of its own (PAPI's software defined events): what it counts between two collectives is known.
// `own_counters N [US]`: before barrier i it adds i * 5 + rank to Own::alpha and 1000 - i to Own::beta, and waits US
// us.

#include <mpi.h>
#include <sde_lib.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static long long alpha, beta;
    int rank, n = atoi(argv[1]), wait_us = argc > 2 ? atoi(argv[2]) : 0;
    papi_handle_t own = papi_sde_init("Own");
    papi_sde_register_counter(own, "alpha", PAPI_SDE_RO | PAPI_SDE_DELTA, PAPI_SDE_long_long, &alpha);
    papi_sde_register_counter(own, "beta", PAPI_SDE_RO | PAPI_SDE_DELTA, PAPI_SDE_long_long, &beta);
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < n; i++) {
        alpha += i * 5 + rank;
        beta += 1000 - i;
        if (wait_us) usleep(wait_us);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
