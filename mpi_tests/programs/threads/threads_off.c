// Four threads, each with a communicator and a channel of its own: `threads_off N`. Thread 0 switches tracing off and
// on for all. The sizes of messages say which of their channel they are.

#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

__attribute__((weak)) void tracelib_pause(void);
__attribute__((weak)) void tracelib_resume(void);

enum { THREADS = 4, ROOM = 1100 };

static int n, rank, size;
static MPI_Comm comms[THREADS];

static void *work(void *number)
{
    int thread = (int)(long)number;
    char out[ROOM], in[ROOM];
    for (int i = 0; i < n; i++) {
        if (thread == 0 && tracelib_pause && i % 30 == 10 + rank) tracelib_pause();
        if (thread == 0 && tracelib_resume && i % 30 == 20 + rank) tracelib_resume();
        MPI_Sendrecv(out, 1 + i * 7 % 1021, MPI_BYTE, (rank + 1) % size, 0, in, ROOM, MPI_BYTE,
                     (rank + size - 1) % size, 0, comms[thread], MPI_STATUS_IGNORE);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    pthread_t threads[THREADS];
    n = atoi(argv[1]);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (long i = 1; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    work(NULL);
    for (int i = 1; i < THREADS; i++) pthread_join(threads[i], NULL);
    MPI_Finalize();
    return 0;
}
