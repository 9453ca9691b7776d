/* Ranks with a CPU each, and processes that keep the CPU of rank 0 busy in some steps.
 *
 *     loaded ITEMS STEPS SECONDS BUSY FROM TO     SECONDS between looks of a monitor; below 0: no monitor
 *
 * Prints each change of shares, the wall-clock time of the steps in which the CPU is busy, and what the monitor says.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <tracelib.h>
#include <tracelib_balance.h>
#include <unistd.h>

#define MOST_BUSY 8

/* One CPU for each rank, by turns, of those that may be used. */
static void bind_to_own_cpu(int rank)
{
    cpu_set_t may, own;
    int left;
    sched_getaffinity(0, sizeof may, &may);
    left = rank % CPU_COUNT(&may);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &may) || left--) continue;
        CPU_ZERO(&own);
        CPU_SET(cpu, &own);
        sched_setaffinity(0, sizeof own, &own);
    }
}

static void start_busy(pid_t *busy, int n)
{
    for (int i = 0; i < n; i++) {
        pid_t parent = getpid();
        if ((busy[i] = fork())) continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (getppid() == parent)
            for (volatile long k = 0; k < 100000000; k++) {
            }
        _exit(0);
    }
}

static void end_busy(const pid_t *busy, int n)
{
    for (int i = 0; i < n; i++) {
        kill(busy[i], SIGKILL);
        waitpid(busy[i], NULL, 0);
    }
}

static double compute(long long items)
{
    double sum = 0;
    for (long long i = 0; i < items * 100000; i++) sum = sum * 0.999999 + 1e-6;
    return sum;
}

/* How many times as long rank 0 takes for an item, of the three phases; and the seconds of an item of the second phase,
 * of both ranks. */
static void print_slower(const double *seconds, const double *items, int rank)
{
    double pace[3], every[6] = {0};
    for (int k = 0; k < 3; k++) pace[k] = items[k] > 0 ? seconds[k] / items[k] : 0;
    MPI_Gather(pace, 3, MPI_DOUBLE, every, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int k = 0; k < 3 && rank == 0; k++)
        printf(k == 2 ? " %.2f\n" : k ? " %.2f" : "slower %.2f", every[3 + k] > 0 ? every[k] / every[3 + k] : 0);
    if (rank == 0) printf("paces %.3g %.3g\n", every[1], every[4]);
}

int main(int argc, char **argv)
{
    if (argc != 7) return 2;
    long long items = atoll(argv[1]);
    int steps = atoi(argv[2]), n_busy = atoi(argv[4]), from = atoi(argv[5]), to = atoi(argv[6]), rank;
    double seconds = atof(argv[3]), sum = 0, all, began = 0, busy_s = 0, begun, of_phase[3] = {0}, items_of[3] = {0};
    struct tracelib_monitor monitor;
    pid_t busy[MOST_BUSY];
    if (n_busy > MOST_BUSY) return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bind_to_own_cpu(rank);
    tracelib_monitor_start(&monitor, items, MPI_COMM_WORLD, seconds, 0.1);
    for (int step = 0; step < steps; step++) {
        if (step == from) {
            if (rank == 0) start_busy(busy, n_busy);
            began = MPI_Wtime();
        }
        if (step == to) {
            if (rank == 0) end_busy(busy, n_busy);
            busy_s = MPI_Wtime() - began;
        }
        begun = MPI_Wtime();
        tracelib_monitor_begin(&monitor);
        tracelib_region_begin("compute");
        sum += compute(monitor.counts[rank]);
        tracelib_region_end("compute");
        tracelib_monitor_end(&monitor);
        of_phase[(step >= from) + (step >= to)] += MPI_Wtime() - begun;
        items_of[(step >= from) + (step >= to)] += (double)monitor.counts[rank];
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (seconds >= 0 && tracelib_monitor_step(&monitor) && rank == 0)
            printf("step %d: %lld\n", step + 1, monitor.counts[0]);
    }
    if (rank == 0 && to >= steps) {
        end_busy(busy, n_busy);
        busy_s = MPI_Wtime() - began;
    }
    print_slower(of_phase, items_of, rank);
    if (rank == 0) printf("busy %.4f s; rank 0 had %lld\n", busy_s, monitor.counts[0]), fflush(stdout);
    tracelib_monitor_finish(&monitor);
    MPI_Finalize();
    return 0;
}
