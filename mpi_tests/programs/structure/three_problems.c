// `three_problems ITERATIONS [PROBLEMS [SCALE]]`: an iteration computes and exchanges with both neighbours, computes
// along a chain of ranks, and reduces. PROBLEMS are letters; all three without:
//   m  moving imbalance: one rank, the next in each iteration, computes three times as long as the others
//   p  pipeline: in the chain each rank computes only when it has the result of the rank below
//   s  slow: in every 20th iteration rank SLOW takes SLOW_US longer
// What it computes it sleeps, SCALE (1) times as long, so that ranks without a core of their own take as long. Regions
// are not marked.

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEP_US = 2000, CHAIN_US = 1000, SLOW_US = 60000, EVERY = 20, SLOW = 1, CELLS = 512 };

static int rank, size;
static double scale = 1;

static void take(long us)
{
    long scaled = (long)((double)us * scale);
    struct timespec time = {scaled / 1000000, scaled % 1000000 * 1000};
    nanosleep(&time, NULL);
}

static void exchange(void)
{
    static double out[CELLS], in[2][CELLS];
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Request requests[4];
    MPI_Irecv(in[0], CELLS, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in[1], CELLS, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, CELLS, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out, CELLS, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void chain(int is_pipeline)
{
    double value = rank;
    if (is_pipeline && rank > 0) MPI_Recv(&value, 1, MPI_DOUBLE, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    take(CHAIN_US);
    if (is_pipeline && rank < size - 1) MPI_Send(&value, 1, MPI_DOUBLE, rank + 1, 3, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const char *problems = argc > 2 ? argv[2] : "mps";
    int iterations = argc > 1 ? atoi(argv[1]) : 100;
    double sum = 0, one = 1;
    if (argc > 3) scale = atof(argv[3]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < iterations; i++) {
        take(strchr(problems, 'm') && i % size == rank ? 3 * STEP_US : STEP_US);
        if (strchr(problems, 's') && i % EVERY == EVERY - 1 && rank == SLOW) take(SLOW_US);
        exchange();
        chain(strchr(problems, 'p') != NULL);
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
