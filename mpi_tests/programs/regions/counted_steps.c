// A program of equal iterations with counters of its own (PAPI's software defined events): what each iteration counts
// is known. `counted_steps N [SCALE]`: 30 ms of preparation, then N iterations of three steps with a barrier after
// each. In the first step rank 0 takes 6 ms and the others 1 ms, in the second all take 2 ms, in the third 1 ms; all
// that SCALE (1) times. An iteration adds 700 + rank to Own::alpha, 30 to Own::beta and 5 to Own::gamma; the
// preparation adds 700 to Own::alpha.

#include <mpi.h>
#include <sde_lib.h>
#include <stdlib.h>
#include <unistd.h>

static double scale = 1;

static void step(double us)
{
    usleep((useconds_t)(us * scale));
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static long long alpha, beta, gamma_;
    int rank, n = atoi(argv[1]);
    if (argc > 2) scale = atof(argv[2]);
    papi_handle_t own = papi_sde_init("Own");
    papi_sde_register_counter(own, "alpha", PAPI_SDE_RO | PAPI_SDE_DELTA, PAPI_SDE_long_long, &alpha);
    papi_sde_register_counter(own, "beta", PAPI_SDE_RO | PAPI_SDE_DELTA, PAPI_SDE_long_long, &beta);
    papi_sde_register_counter(own, "gamma", PAPI_SDE_RO | PAPI_SDE_DELTA, PAPI_SDE_long_long, &gamma_);
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    alpha += 700;
    step(30000);
    for (int i = 0; i < n; i++) {
        alpha += 600 + rank;
        step(rank == 0 ? 6000 : 1000);
        alpha += 100;
        beta += 30;
        step(2000);
        gamma_ += 5;
        step(1000);
    }
    MPI_Finalize();
    return 0;
}
