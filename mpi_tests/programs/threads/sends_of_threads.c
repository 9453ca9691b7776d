// Several threads of rank 0 with small sends open at once, which MPI may have completed under one handle for all. They
// post in the order of their numbers and complete in the opposite one, each what it has posted: `sends_of_threads LEVEL
// SENDS`, LEVEL "multiple" or "serialized". Every thread keeps truth.h's notes and says in an event who it is.

#define TRUTH_OF_THREADS
#include <pthread.h>
#include <tracelib.h>

#include "truth.h"

enum { THREADS = 5, MOST_SENDS = 400, WHO = 9 };

static int sends, turn;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void end_notes(int who)
{
    char name[64];
    snprintf(name, sizeof name, "truth-%d-%d.jsonl", truth.rank, who);
    truth_write_as(name);
    free(truth_of_thread);
}

static void wait_for_turn(int wanted)
{
    pthread_mutex_lock(&lock);
    while (turn != wanted) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void next_turn(void)
{
    pthread_mutex_lock(&lock);
    turn++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static int length_of(int thread, int i)
{
    return 3 + thread * 7 + i % 5;
}

static void post(int me, int from, int to, MPI_Request *requests, int (*out)[64])
{
    for (int i = from; i < to; i++) {
        int tag = me * MOST_SENDS + i, n = length_of(me, i);
        outgoing(out[i], MPI_COMM_WORLD, 1, tag, n);
        CALL(MPI_Isend, out[i], n, MPI_INT, 1, tag, MPI_COMM_WORLD, &requests[i]);
    }
}

// The first half with one call, the second one after the other.
static void complete(MPI_Request *requests)
{
    CALL(MPI_Waitall, sends / 2, requests, MPI_STATUSES_IGNORE);
    for (int i = sends / 2; i < sends; i++) CALL(MPI_Wait, &requests[i], MPI_STATUS_IGNORE);
}

static void *work(void *number)
{
    int me = (int)(long)number;
    MPI_Request requests[MOST_SENDS];
    int out[MOST_SENDS][64];
    truth_begin();
    tracelib_event(WHO, me);
    for (int half = 0; half < 2; half++) {
        wait_for_turn(half * THREADS + me);
        post(me, half * (sends / 2), half ? sends : sends / 2, requests, out);
        next_turn();
    }
    wait_for_turn(3 * THREADS - 1 - me);
    complete(requests);
    next_turn();
    end_notes(me);
    return NULL;
}

static void receive_all(void)
{
    int message[64];
    for (int thread = 0; thread < THREADS; thread++)
        for (int i = 0; i < sends; i++) {
            CALL(MPI_Recv, message, 64, MPI_INT, 0, thread * MOST_SENDS + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            incoming(message, MPI_COMM_WORLD);
        }
}

int main(int argc, char **argv)
{
    int provided, wanted = strcmp(argv[1], "serialized") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED;
    pthread_t threads[THREADS];
    tracelib_event(WHO, 9999);
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    truth_begin();
    truth_count("MPI_Init_thread");
    sends = atoi(argv[2]);
    if (provided < wanted) truth_fail("not this thread level");
    if (sends > MOST_SENDS) truth_fail("too many sends");
    if (truth.rank == 0) {
        for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
        for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    } else {
        receive_all();
    }
    CALL(MPI_Finalize);
    end_notes(9999);
    return 0;
}
