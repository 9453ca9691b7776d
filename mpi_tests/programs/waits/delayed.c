// Delays of known length, one for each kind of wait state: in each function one rank comes late, and the others are in
// a call that waits for it. The late one begins when a flag in shared memory says that all others are about to enter
// their calls, gives them GRACE_US to do so, and then takes DELAY_US, in a region that bears the function's name.
//
// Each rank notes into delayed-<rank>.jsonl: ["late", function, ns of the delay], ["waited", function, ns of the call
// that waited].

#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <tracelib.h>
#include <unistd.h>

enum { GRACE_US = 40000, DELAY_US = 40000, LARGE = 1 << 20, FUNCTIONS = 64, MOST_RANKS = 16 };

static int rank, size, number; // of the function
static FILE *notes;
static atomic_int *ready; // of each function: how many are about to wait; behind them: whether a lock is held
static int ones[MOST_RANKS], places[MOST_RANKS]; // counts and displacements of collectives: one element for each rank
static int wide_places[MOST_RANKS];              // in bytes
static int given[MOST_RANKS], taken[MOST_RANKS];
static MPI_Datatype integers[MOST_RANKS];
static char small[8], large[LARGE];
static MPI_Win window, posted_window, locked_window;
static MPI_Comm ring, across; // across: the lower half of the ranks and the upper one

static long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

static void take(long us)
{
    for (long end = now() + us * 1000; now() < end;) usleep(1000);
}

static void come_late(const char *function, int others)
{
    while (ready[number] < others) usleep(100);
    tracelib_region_begin(function);
    take(GRACE_US);
    long begin = now();
    take(DELAY_US);
    fprintf(notes, "[\"late\", \"%s\", %ld]\n", function, now() - begin);
    tracelib_region_end(function);
}

#define WAIT_IN(function, call)                                                                                        \
    do {                                                                                                               \
        tracelib_region_begin(function " waits");                                                                      \
        long begin = now();                                                                                            \
        ready[number]++;                                                                                               \
        call;                                                                                                          \
        fprintf(notes, "[\"waited\", \"%s\", %ld]\n", function, now() - begin);                                        \
        tracelib_region_end(function " waits");                                                                        \
    } while (0)

static void late_sender(void)
{
    if (rank == 0) {
        come_late("late_sender", 1);
        MPI_Send(small, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        WAIT_IN("late_sender", MPI_Recv(small, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

static void late_sender_in_wait(void)
{
    MPI_Request request;
    if (rank == 0) {
        come_late("late_sender_in_wait", 1);
        MPI_Send(small, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Irecv(small, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
        WAIT_IN("late_sender_in_wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

static void late_sender_in_probe(void)
{
    if (rank == 0) {
        come_late("late_sender_in_probe", 1);
        MPI_Send(small, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        WAIT_IN("late_sender_in_probe", MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI_Recv(small, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void wrong_order(void)
{
    if (rank == 0) {
        MPI_Send(small, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
        come_late("wrong_order", 1);
        MPI_Send(small, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    } else if (rank == 1) {
        WAIT_IN("wrong_order", MPI_Recv(small, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI_Recv(small, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void late_receiver(void)
{
    if (rank == 0) {
        WAIT_IN("late_receiver", MPI_Send(large, LARGE, MPI_CHAR, 1, 0, MPI_COMM_WORLD));
    } else if (rank == 1) {
        come_late("late_receiver", 1);
        MPI_Recv(large, LARGE, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void late_receiver_in_wait(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Issend(small, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
        WAIT_IN("late_receiver_in_wait", MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
    } else if (rank == 1) {
        come_late("late_receiver_in_wait", 1);
        MPI_Recv(small, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* A collective to which rank `late` comes late; those of whom `waits` says so wait, the others only take part. */
#define COLLECTIVE(function, late, waits, call)                                                                        \
    static void function(void)                                                                                         \
    {                                                                                                                  \
        int sum[2] = {0}, part = 1, waiting = 0;                                                                       \
        for (int r = 0; r < size; r++) waiting += r != (late) && (waits);                                              \
        int r = rank;                                                                                                  \
        (void)sum, (void)part;                                                                                         \
        if (rank == (late)) come_late(#function, waiting);                                                             \
        if (rank != (late) && (waits))                                                                                 \
            WAIT_IN(#function, call);                                                                                  \
        else                                                                                                           \
            call;                                                                                                      \
        (void)r;                                                                                                       \
    }

COLLECTIVE(barrier, 1, 1, MPI_Barrier(MPI_COMM_WORLD))
COLLECTIVE(n_to_n, 1, 1, MPI_Allreduce(&part, sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD))
COLLECTIVE(early_reduce, size - 1, r == 0, MPI_Reduce(&part, sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD))
COLLECTIVE(late_broadcast, 1, 1, MPI_Bcast(sum, 1, MPI_INT, 1, MPI_COMM_WORLD))
COLLECTIVE(early_scan, 0, 1, MPI_Scan(&part, sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD))
COLLECTIVE(fence, 1, 1, MPI_Win_fence(0, window))

static void n_to_n_in_wait(void)
{
    MPI_Request request;
    int part = 1, sum;
    if (rank == 1) come_late("n_to_n_in_wait", size - 1);
    MPI_Iallreduce(&part, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank == 1)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    else
        WAIT_IN("n_to_n_in_wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
}

COLLECTIVE(alltoallv, 1, 1, MPI_Alltoallv(given, ones, places, MPI_INT, taken, ones, places, MPI_INT, MPI_COMM_WORLD))
COLLECTIVE(alltoallw, 1, 1,
           MPI_Alltoallw(given, ones, wide_places, integers, taken, ones, wide_places, integers, MPI_COMM_WORLD))
COLLECTIVE(allgatherv, 1, 1, MPI_Allgatherv(given, 1, MPI_INT, taken, ones, places, MPI_INT, MPI_COMM_WORLD))
COLLECTIVE(reduce_scatter, 1, 1, MPI_Reduce_scatter(given, taken, ones, MPI_INT, MPI_SUM, MPI_COMM_WORLD))
COLLECTIVE(neighbours, 1, (r + 1) % size == 1 || (r + size - 1) % size == 1,
           MPI_Neighbor_alltoall(given, 1, MPI_INT, taken, 1, MPI_INT, ring))
COLLECTIVE(other_group, 1, (r < size / 2) != (1 < size / 2), MPI_Allreduce(given, taken, 1, MPI_INT, MPI_SUM, across))

static void persistent_n_to_n(void)
{
#if MPI_VERSION >= 4
    MPI_Request request;
    int part = 1, sum;
    MPI_Allreduce_init(&part, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    if (rank == 1) come_late("persistent_n_to_n", size - 1);
    MPI_Start(&request);
    if (rank == 1)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    else
        WAIT_IN("persistent_n_to_n", MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Request_free(&request);
#endif
}

/* The message is small enough to be buffered: the sender goes on. */
static void eager(void)
{
    if (rank == 0) {
        WAIT_IN("eager", MPI_Send(small, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD));
    } else if (rank == 1) {
        come_late("eager", 1);
        MPI_Recv(small, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void synchronous(void)
{
    if (rank == 0) {
        WAIT_IN("synchronous", MPI_Ssend(small, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD));
    } else if (rank == 1) {
        come_late("synchronous", 1);
        MPI_Recv(small, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void poll(MPI_Request *request, long compute_us)
{
    for (int flag = 0; MPI_Test(request, &flag, MPI_STATUS_IGNORE), !flag;)
        if (compute_us) take(compute_us);
}

static void poll_some(MPI_Request *request)
{
    MPI_Status status;
    for (int count = 0, index; MPI_Testsome(1, request, &count, &index, &status), count != 1;) continue;
}

/* Rank 1 polls for a message of rank 0. */
#define POLLED(function, poll_)                                                                                        \
    static void function(void)                                                                                         \
    {                                                                                                                  \
        MPI_Request request;                                                                                           \
        if (rank == 0) {                                                                                               \
            come_late(#function, 1);                                                                                   \
            MPI_Send(small, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);                                                        \
        } else if (rank == 1) {                                                                                        \
            MPI_Irecv(small, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);                                             \
            WAIT_IN(#function, poll_);                                                                                 \
        }                                                                                                              \
    }

POLLED(late_sender_in_test, poll(&request, 0))
POLLED(late_sender_in_testsome, poll_some(&request))
POLLED(overlapped, poll(&request, 2000))

static void probe(void)
{
    MPI_Status status;
    int flag = 0, count;
    while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, &status);
    MPI_Get_count(&status, MPI_CHAR, &count);
    MPI_Recv(small, count, MPI_CHAR, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void late_sender_in_iprobe(void)
{
    if (rank == 0) {
        come_late("late_sender_in_iprobe", 1);
        MPI_Send(small, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        WAIT_IN("late_sender_in_iprobe", probe());
    }
}

static void late_receiver_in_test(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Issend(small, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
        WAIT_IN("late_receiver_in_test", poll(&request, 0));
    } else if (rank == 1) {
        come_late("late_receiver_in_test", 1);
        MPI_Recv(small, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void barrier_in_test(void)
{
    MPI_Request request;
    if (rank == 1) come_late("barrier_in_test", size - 1);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    if (rank == 1)
        poll(&request, 0);
    else
        WAIT_IN("barrier_in_test", poll(&request, 0));
}

static MPI_Group group_of(int other)
{
    MPI_Group all, one;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &one);
    MPI_Group_free(&all);
    return one;
}

static void put(MPI_Group target)
{
    MPI_Win_start(target, 0, posted_window);
    MPI_Put(small, 1, MPI_CHAR, 1, 0, 1, MPI_CHAR, posted_window);
    MPI_Win_complete(posted_window);
}

static void late_post(void)
{
    if (rank > 1) return;
    MPI_Group other = group_of(1 - rank);
    if (rank == 0) {
        WAIT_IN("late_post", put(other));
    } else {
        come_late("late_post", 1);
        MPI_Win_post(other, 0, posted_window);
        MPI_Win_wait(posted_window);
    }
    MPI_Group_free(&other);
}

static void early_wait(void)
{
    if (rank > 1) return;
    MPI_Group other = group_of(1 - rank);
    if (rank == 0) {
        MPI_Win_start(other, 0, posted_window);
        MPI_Put(small, 1, MPI_CHAR, 1, 0, 1, MPI_CHAR, posted_window);
        come_late("early_wait", 1);
        MPI_Win_complete(posted_window);
    } else {
        MPI_Win_post(other, 0, posted_window);
        WAIT_IN("early_wait", MPI_Win_wait(posted_window));
    }
    MPI_Group_free(&other);
}

static void put_locked(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, locked_window);
    MPI_Put(small, 1, MPI_CHAR, 0, 0, 1, MPI_CHAR, locked_window);
    MPI_Win_unlock(0, locked_window);
}

/* Rank 0 has locked its own part of the window. */
static void lock_contention(void)
{
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, locked_window);
        ready[FUNCTIONS + number]++;
        come_late("lock_contention", 1);
        MPI_Win_unlock(0, locked_window);
    } else if (rank == 1) {
        while (!ready[FUNCTIONS + number]) usleep(100);
        WAIT_IN("lock_contention", put_locked());
    }
}

/* Rank 0 is late; rank 1 waits for it, and then rank 2 for rank 1. */
static void chain(void)
{
    if (rank == 0) {
        come_late("chain", 2);
        MPI_Send(small, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        WAIT_IN("chain", MPI_Recv(small, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI_Send(small, 1, MPI_CHAR, 2, 0, MPI_COMM_WORLD);
    } else if (rank == 2) {
        WAIT_IN("chain", MPI_Recv(small, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

static void share_flags(void)
{
    size_t bytes = 2 * FUNCTIONS * sizeof *ready;
    if (rank == 0) {
        int file = open("ready", O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (file < 0 || ftruncate(file, (off_t)bytes)) MPI_Abort(MPI_COMM_WORLD, 1);
        close(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int file = open("ready", O_RDWR);
    ready = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (ready == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 1);
    close(file);
}

static void join_halves(void)
{
    MPI_Comm half;
    int upper = rank >= size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : size / 2, 0, &across);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    static void (*const functions[])(void) = {
        late_sender,
        late_sender_in_wait,
        late_sender_in_probe,
        wrong_order,
        late_receiver,
        late_receiver_in_wait,
        barrier,
        n_to_n,
        early_reduce,
        late_broadcast,
        early_scan,
        fence,
        n_to_n_in_wait,
        alltoallv,
        alltoallw,
        allgatherv,
        reduce_scatter,
        neighbours,
        other_group,
        persistent_n_to_n,
        eager,
        synchronous,
        late_sender_in_test,
        late_sender_in_testsome,
        late_sender_in_iprobe,
        late_receiver_in_test,
        barrier_in_test,
        overlapped,
        late_post,
        early_wait,
        lock_contention,
        chain,
    };
    char name[64], part[3];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(name, sizeof name, "delayed-%d.jsonl", rank);
    notes = fopen(name, "w");
    share_flags();
    for (int r = 0; r < MOST_RANKS; r++) {
        ones[r] = 1;
        places[r] = r;
        wide_places[r] = r * (int)sizeof(int);
        integers[r] = MPI_INT;
    }
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, ones, 0, &ring);
    join_halves();
    MPI_Win_create(&part[0], 1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_create(&part[1], 1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &posted_window);
    MPI_Win_create(&part[2], 1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &locked_window);
    MPI_Win_fence(0, window);
    for (number = 0; number < (int)(sizeof functions / sizeof *functions); number++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (functions[number] != chain || size > 2) functions[number]();
    }
    MPI_Win_free(&window);
    MPI_Win_free(&posted_window);
    MPI_Win_free(&locked_window);
    MPI_Comm_free(&ring);
    MPI_Comm_free(&across);
    fclose(notes);
    MPI_Finalize();
    return 0;
}
