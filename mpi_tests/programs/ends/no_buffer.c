// A thread that finds no memory for its buffer makes 100 calls.
#include <mpi.h>
#include <pthread.h>
#include <sys/resource.h>

static pthread_barrier_t turn;

static void *calls(void *unused)
{
    int value = 0;
    pthread_barrier_wait(&turn);
    for (int i = 0; i < 100; i++) MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    return unused;
}

int main(void)
{
    struct rlimit before, little;
    pthread_t thread;
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    pthread_barrier_init(&turn, NULL, 2);
    pthread_create(&thread, NULL, calls, NULL);
    getrlimit(RLIMIT_AS, &before);
    little = before;
    little.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_AS, &little);
    pthread_barrier_wait(&turn);
    pthread_join(thread, NULL);
    setrlimit(RLIMIT_AS, &before);
    MPI_Finalize();
    return 0;
}
