// Threads that make no call compute beside the main one on the CPUs that the rank may use.
//     crowded THREADS CPUS MILLISECONDS
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static int milliseconds;

static void *work(void *unused)
{
    struct timespec t;
    volatile double x = 1;
    do {
        for (int i = 0; i < 1000; i++) x = x * 1.0000001;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    } while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < milliseconds);
    return unused;
}

static void *idle(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

// Use the first n CPUs of the process.
static void use_cpus(int n)
{
    cpu_set_t all, some;
    CPU_ZERO(&some);
    sched_getaffinity(0, sizeof all, &all);
    for (int cpu = 0; cpu < CPU_SETSIZE && n > 0; cpu++)
        if (CPU_ISSET(cpu, &all)) {
            CPU_SET(cpu, &some);
            n--;
        }
    sched_setaffinity(0, sizeof some, &some);
}

int main(int argc, char **argv)
{
    int threads = atoi(argv[1]), provided;
    pthread_t other[16], sleeper;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    milliseconds = atoi(argv[3]);
    use_cpus(atoi(argv[2]));
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    pthread_mutex_lock(&lock);
    pthread_create(&sleeper, NULL, idle, &lock);
    for (int i = 1; i < threads; i++) pthread_create(&other[i], NULL, work, NULL);
    work(NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    pthread_mutex_unlock(&lock);
    for (int i = 1; i < threads; i++) pthread_join(other[i], NULL);
    pthread_join(sleeper, NULL);
    return 0;
}
