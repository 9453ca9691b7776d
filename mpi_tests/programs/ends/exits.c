// exit() while other threads are in MPI. Each thread numbers its calls by their tag and notes in memory how many have
// returned; it prints the number that it had noted when exit() was called: at least these must be in the trace.
//     exits exit|abort

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracelib.h>
#include <unistd.h>

enum { SENDERS = 2, POSTERS = 2, POLLERS = 1, THREADS = SENDERS + POSTERS + POLLERS, WHO = 9, MOST_TAG = 1 << 20 };

static long done[THREADS];
static MPI_Comm own[THREADS]; // of the posters

static void count(int who)
{
    __atomic_add_fetch(&done[who], 1, __ATOMIC_RELEASE);
}

static void *send(void *number)
{
    int who = (int)(long)number, value = 0;
    tracelib_event(WHO, who);
    for (int tag = 0; tag < MOST_TAG; tag++) {
        MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
        count(who);
    }
    return NULL;
}

// Messages to the own rank, from one thread to itself.
static void *post(void *number)
{
    int who = (int)(long)number, in, out = 0;
    tracelib_event(WHO, who);
    for (int tag = 0; tag < MOST_TAG; tag++) {
        MPI_Request request;
        MPI_Irecv(&in, 1, MPI_INT, 0, tag, own[who], &request);
        MPI_Send(&out, 1, MPI_INT, 0, tag, own[who]);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        count(who);
    }
    return NULL;
}

// Nothing ever comes.
static void *poll(void *number)
{
    int who = (int)(long)number, flag = 0;
    tracelib_event(WHO, who);
    while (!flag) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        count(who);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    long noted[THREADS];
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) return 3;
    for (int i = SENDERS; i < SENDERS + POSTERS; i++) MPI_Comm_dup(MPI_COMM_SELF, &own[i]);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, i < SENDERS ? send : i < SENDERS + POSTERS ? post : poll, (void *)i);
    for (int i = 0; i < THREADS; i++)
        while (__atomic_load_n(&done[i], __ATOMIC_ACQUIRE) < 1000) usleep(1000);
    for (int i = 0; i < THREADS; i++) noted[i] = __atomic_load_n(&done[i], __ATOMIC_ACQUIRE);
    for (int i = 0; i < THREADS; i++) printf("%ld\n", noted[i]);
    fflush(stdout);
    if (strcmp(argv[1], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 0);
    exit(0);
}
