// MPI_THREAD_MULTIPLE with many threads in MPI at once, on two ranks: workers that come and go, each with a helper that
// completes what the worker has posted. Every thread keeps truth.h's notes for itself and says in an event who it is.
//     threads GENERATIONS ROUNDS

#define TRUTH_OF_THREADS
#include <pthread.h>
#include <stdbool.h>
#include <tracelib.h>
#include <unistd.h>

#include "truth.h"

enum { SLOTS = 4, BATCH = 5, MOST_GENERATIONS = 8, TAGS_PER_WORKER = 64, WHO = 9 };
enum { TAG_BLOCKING, TAG_PERSISTENT, TAG_PROBED, TAG_EXCHANGED, TAG_POSTED, TAG_HANDED = TAG_POSTED + BATCH };

static int rank, rounds, generations;
static MPI_Comm lanes[SLOTS * MOST_GENERATIONS]; // one for each worker and its partner on the other rank

// Request that a worker gives its helper to complete.
struct handover {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool full, over;
    int batches;
    MPI_Request requests[2 * BATCH];
    int incoming[BATCH][MESSAGE_INTS], outgoing[BATCH][MESSAGE_INTS];
};

struct worker {
    int number;
    MPI_Comm lane, comm; // comm changes: world or the lane
    struct handover handover;
};

static void begin_notes(int who)
{
    truth_begin();
    tracelib_event(WHO, who);
}

static void end_notes(int who)
{
    char name[64];
    snprintf(name, sizeof name, "truth-%d-%d.jsonl", rank, who);
    truth_write_as(name);
    free(truth_of_thread);
}

static int tag_of(const struct worker *w, int kind)
{
    return w->number * TAGS_PER_WORKER + kind;
}

static int length_of(const struct worker *w, int round)
{
    return 3 + (w->number * 7 + round * 13) % 200;
}

static int other(void)
{
    return 1 - rank;
}

static void blocking(struct worker *w, int round)
{
    int message[MESSAGE_INTS], tag = tag_of(w, TAG_BLOCKING), n = length_of(w, round);
    for (int turn = 0; turn < 2; turn++) {
        if (turn == rank) {
            outgoing(message, w->comm, other(), tag, n);
            CALL(MPI_Send, message, n, MPI_INT, other(), tag, w->comm);
        } else {
            CALL(MPI_Recv, message, MESSAGE_INTS, MPI_INT, MPI_ANY_SOURCE, tag, w->comm, MPI_STATUS_IGNORE);
            incoming(message, w->comm);
        }
    }
}

static void exchanged(struct worker *w, int round)
{
    int out[MESSAGE_INTS], in[MESSAGE_INTS], tag = tag_of(w, TAG_EXCHANGED), n = length_of(w, round);
    outgoing(out, w->comm, other(), tag, n);
    CALL(MPI_Sendrecv, out, n, MPI_INT, other(), tag, in, MESSAGE_INTS, MPI_INT, other(), tag, w->comm,
         MPI_STATUS_IGNORE);
    incoming(in, w->comm);
}

static void post(struct worker *w, int round, int first_tag, MPI_Request *requests, int (*in)[MESSAGE_INTS],
                 int (*out)[MESSAGE_INTS])
{
    for (int i = 0; i < BATCH; i++) {
        int tag = tag_of(w, first_tag + i), n = length_of(w, round + i);
        CALL(MPI_Irecv, in[i], MESSAGE_INTS, MPI_INT, i % 2 ? other() : MPI_ANY_SOURCE, tag, w->comm, &requests[2 * i]);
        outgoing(out[i], w->comm, other(), tag, n);
        CALL(MPI_Isend, out[i], n, MPI_INT, other(), tag, w->comm, &requests[2 * i + 1]);
    }
}

// Each way to complete all of n requests.
static void complete(MPI_Request *requests, int n, int way)
{
    MPI_Status statuses[2 * BATCH];
    int flag = 0, index, done = 0, some, indices[2 * BATCH];
    switch (way) {
    case 0:
        CALL(MPI_Waitall, n, requests, MPI_STATUSES_IGNORE);
        break;
    case 1:
        for (int i = 0; i < n; i++) CALL(MPI_Waitany, n, requests, &index, MPI_STATUS_IGNORE);
        break;
    case 2:
        while (done < n) {
            CALL(MPI_Testsome, n, requests, &some, indices, statuses);
            done += some;
        }
        break;
    case 3:
        for (int i = n - 1; i >= 0; i--) CALL(MPI_Wait, &requests[i], MPI_STATUS_IGNORE);
        break;
    case 4:
        while (!flag) CALL(MPI_Testall, n, requests, &flag, statuses);
        break;
    case 5:
        for (int i = 0; i < n; i++)
            for (flag = 0; !flag;) CALL(MPI_Test, &requests[i], &flag, MPI_STATUS_IGNORE);
        break;
    default:
        while (done < n) {
            CALL(MPI_Testany, n, requests, &index, &flag, MPI_STATUS_IGNORE);
            done += flag;
        }
    }
}
enum { WAYS = 7 };

static void posted(struct worker *w, int round)
{
    MPI_Request requests[2 * BATCH];
    int in[BATCH][MESSAGE_INTS], out[BATCH][MESSAGE_INTS];
    post(w, round, TAG_POSTED, requests, in, out);
    complete(requests, 2 * BATCH, (round + w->number) % WAYS);
    for (int i = 0; i < BATCH; i++) incoming(in[i], w->comm);
}

// The helper completes what is posted here, while the worker goes on.
static void handed_over(struct worker *w, int round)
{
    struct handover *h = &w->handover;
    pthread_mutex_lock(&h->lock);
    while (h->full) pthread_cond_wait(&h->changed, &h->lock);
    post(w, round, TAG_HANDED, h->requests, h->incoming, h->outgoing);
    h->full = true;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
}

static void *help(void *argument)
{
    struct worker *w = argument;
    struct handover *h = &w->handover;
    begin_notes(w->number + 1000);
    pthread_mutex_lock(&h->lock);
    for (int round = 0;; round++) {
        while (!h->full && !h->over) pthread_cond_wait(&h->changed, &h->lock);
        if (!h->full) break;
        complete(h->requests, 2 * BATCH, (round + w->number) % WAYS);
        for (int i = 0; i < BATCH; i++) incoming(h->incoming[i], w->lane);
        h->full = false;
        pthread_cond_broadcast(&h->changed);
    }
    pthread_mutex_unlock(&h->lock);
    end_notes(w->number + 1000);
    return NULL;
}

static void persistent(struct worker *w, int round)
{
    MPI_Request requests[2];
    int in[MESSAGE_INTS], out[MESSAGE_INTS], tag = tag_of(w, TAG_PERSISTENT), n = length_of(w, round);
    CALL(MPI_Recv_init, in, MESSAGE_INTS, MPI_INT, other(), tag, w->comm, &requests[0]);
    CALL(MPI_Send_init, out, n, MPI_INT, other(), tag, w->comm, &requests[1]);
    for (int i = 0; i < 2; i++) {
        outgoing(out, w->comm, other(), tag, n);
        CALL(MPI_Startall, 2, requests);
        complete(requests, 2, i ? 3 : 0);
        incoming(in, w->comm);
    }
    for (int i = 0; i < 2; i++) CALL(MPI_Request_free, &requests[i]);
}

static void probed(struct worker *w, int round)
{
    int out[MESSAGE_INTS], in[MESSAGE_INTS], tag = tag_of(w, TAG_PROBED), n = length_of(w, round), flag = 0;
    MPI_Request request;
    MPI_Message message;
    outgoing(out, w->comm, other(), tag, n);
    CALL(MPI_Isend, out, n, MPI_INT, other(), tag, w->comm, &request);
    if (round % 2) {
        while (!flag) CALL(MPI_Iprobe, MPI_ANY_SOURCE, tag, w->comm, &flag, MPI_STATUS_IGNORE);
        CALL(MPI_Recv, in, MESSAGE_INTS, MPI_INT, other(), tag, w->comm, MPI_STATUS_IGNORE);
    } else {
        CALL(MPI_Mprobe, other(), tag, w->comm, &message, MPI_STATUS_IGNORE);
        CALL(MPI_Mrecv, in, MESSAGE_INTS, MPI_INT, &message, MPI_STATUS_IGNORE);
    }
    incoming(in, w->comm);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
}

// Collectives on the thread's own lane.
static void collectives(struct worker *w, int round)
{
    long sum, mine = rank + round;
    MPI_Request request;
    (void)round;
    CALL(MPI_Barrier, w->lane);
    CALL(MPI_Allreduce, &mine, &sum, 1, MPI_LONG, MPI_SUM, w->lane);
    truth_moved("MPI_Allreduce", sizeof mine, sizeof sum);
    CALL(MPI_Ibarrier, w->lane, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
}

// A communicator comes and goes while other threads use theirs.
static void communicators(struct worker *w, int round)
{
    MPI_Comm before = w->comm, copy;
    if (round % 2)
        CALL(MPI_Comm_dup, w->lane, &copy);
    else
        CALL(MPI_Comm_split, w->lane, 0, rank, &copy);
    w->comm = copy;
    blocking(w, round);
    exchanged(w, round);
    w->comm = before;
    CALL(MPI_Comm_free, &copy);
}

static void window(struct worker *w, int round)
{
    long *memory;
    long value = w->number * 1000 + round;
    MPI_Win win;
    CALL(MPI_Win_allocate, 4 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, w->lane, &memory, &win);
    memory[1] = -1;
    CALL(MPI_Barrier, w->lane);
    CALL(MPI_Win_lock, MPI_LOCK_EXCLUSIVE, other(), 0, win);
    CALL(MPI_Put, &value, 1, MPI_LONG, other(), 1, 1, MPI_LONG, win);
    CALL(MPI_Win_unlock, other(), win);
    CALL(MPI_Barrier, w->lane);
    CALL(MPI_Win_lock, MPI_LOCK_SHARED, rank, 0, win);
    if (memory[1] != value) truth_fail("a window has another value than the one that was put there");
    CALL(MPI_Win_unlock, rank, win);
    CALL(MPI_Win_free, &win);
}

// Refused by MPI: a call without a message.
static void refused(struct worker *w)
{
    int value = 0;
    if (CALL(MPI_Send, &value, 1, MPI_INT, 2, 0, w->lane) == MPI_SUCCESS) truth_fail("there is no rank 2");
}

static void *work(void *argument)
{
    struct worker *w = argument;
    pthread_t helper;
    begin_notes(w->number);
    pthread_create(&helper, NULL, help, w);
    CALL(MPI_Comm_set_errhandler, w->lane, MPI_ERRORS_RETURN);
    for (int round = 0; round < rounds; round++) {
        char name[32];
        snprintf(name, sizeof name, "round %d", round % 20);
        tracelib_region_begin(name);
        w->comm = round % 3 ? w->lane : MPI_COMM_WORLD;
        blocking(w, round);
        posted(w, round);
        persistent(w, round);
        probed(w, round);
        exchanged(w, round);
        w->comm = w->lane;
        handed_over(w, round);
        collectives(w, round);
        if (round % 4 == 0) communicators(w, round / 4);
        if (round % 10 == w->number % 10) window(w, round);
        refused(w);
        tracelib_region_end(name);
    }
    pthread_mutex_lock(&w->handover.lock);
    w->handover.over = true;
    pthread_cond_broadcast(&w->handover.changed);
    pthread_mutex_unlock(&w->handover.lock);
    pthread_join(helper, NULL);
    end_notes(w->number);
    return NULL;
}

// One worker after the other, so that threads of different ages are there together.
static void *keep_busy(void *argument)
{
    int slot = (int)(long)argument;
    for (int generation = 0; generation < generations; generation++) {
        struct worker *w = calloc(1, sizeof *w);
        pthread_t thread;
        w->number = slot * generations + generation;
        w->lane = lanes[w->number];
        pthread_mutex_init(&w->handover.lock, NULL);
        pthread_cond_init(&w->handover.changed, NULL);
        pthread_create(&thread, NULL, work, w);
        pthread_join(thread, NULL);
        free(w);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t slots[SLOTS];
    generations = atoi(argv[1]);
    rounds = atoi(argv[2]);
    tracelib_event(WHO, 9999);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    truth_begin();
    truth_count("MPI_Init_thread");
    rank = truth.rank;
    if (provided != MPI_THREAD_MULTIPLE) truth_fail("no MPI_THREAD_MULTIPLE");
    if (generations > MOST_GENERATIONS) truth_fail("too many generations");
    for (int i = 0; i < SLOTS * generations; i++) CALL(MPI_Comm_dup, MPI_COMM_WORLD, &lanes[i]);
    for (long i = 0; i < SLOTS; i++) pthread_create(&slots[i], NULL, keep_busy, (void *)i);
    for (int i = 0; i < SLOTS; i++) pthread_join(slots[i], NULL);
    for (int i = 0; i < SLOTS * generations; i++) CALL(MPI_Comm_free, &lanes[i]);
    CALL(MPI_Finalize);
    end_notes(9999);
    return 0;
}
