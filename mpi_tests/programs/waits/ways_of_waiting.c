/* Each way of waiting, with each rank late in turn: `ways_of_waiting MILLISECONDS`, on two ranks.
 *
 * Both begin a round together. The late rank sleeps in the region "late WAY"; the other enters the region "waits WAY"
 * and waits for it. The path through the run is on the late rank, or its thread, while that sleeps. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <tracelib.h>

enum { LARGE = 1 << 20 };

static int rank, other, late, in[4], out[4];
static char data[LARGE];
static long milliseconds;
static const char *way;
static MPI_Comm pair;
static MPI_Win window;

static void sleep_late(void)
{
    struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    char name[64];
    snprintf(name, sizeof name, "late %s", way);
    tracelib_region_begin(name);
    nanosleep(&t, NULL);
    tracelib_region_end(name);
}

static void send(void)
{
    sleep_late();
    MPI_Send(out, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
}

static MPI_Request receive(void)
{
    MPI_Request r;
    MPI_Irecv(in, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &r);
    return r;
}

static void test(void)
{
    if (late) return send();
    MPI_Request r = receive();
    for (int done = 0; !done;) MPI_Test(&r, &done, MPI_STATUS_IGNORE);
}

static void testany(void)
{
    if (late) return send();
    MPI_Request r[2] = {MPI_REQUEST_NULL, receive()};
    for (int done = 0, i; !done;) MPI_Testany(2, r, &i, &done, MPI_STATUS_IGNORE);
}

static void testall(void)
{
    if (late) return send();
    MPI_Request r[2] = {MPI_REQUEST_NULL, receive()};
    for (int done = 0; !done;) MPI_Testall(2, r, &done, MPI_STATUSES_IGNORE);
}

static void testsome(void)
{
    if (late) return send();
    MPI_Request r = receive();
    for (int done = 0, i; !done;) MPI_Testsome(1, &r, &done, &i, MPI_STATUSES_IGNORE);
}

static void test_of_a_send(void)
{
    if (late) {
        sleep_late();
        MPI_Recv(data, LARGE, MPI_CHAR, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Request r;
    MPI_Issend(data, LARGE, MPI_CHAR, other, 2, MPI_COMM_WORLD, &r);
    for (int done = 0; !done;) MPI_Test(&r, &done, MPI_STATUS_IGNORE);
}

static void iprobe(void)
{
    if (late) return send();
    for (int there = 0; !there;) MPI_Iprobe(other, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    MPI_Recv(in, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void improbe(void)
{
    if (late) return send();
    MPI_Message message;
    for (int there = 0; !there;) MPI_Improbe(other, 1, MPI_COMM_WORLD, &there, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

static void probe(void)
{
    if (late) return send();
    MPI_Probe(other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(in, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Match the message that was found, as recv() of mpi4py does. */
static void receive_matched(void)
{
    MPI_Message message;
    MPI_Mprobe(other, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

static void iprobe_then_matched(void)
{
    if (late) return send();
    for (int there = 0; !there;) MPI_Iprobe(other, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    receive_matched();
}

static void probe_then_matched(void)
{
    if (late) return send();
    MPI_Probe(other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    receive_matched();
}

/* Asks for a message that never comes and for one that does, in turns. */
static void two_polls_in_turns(void)
{
    if (late) return send();
    MPI_Request r = receive();
    for (int done = 0, there; !done;) {
        MPI_Iprobe(other, 9, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        MPI_Test(&r, &done, MPI_STATUS_IGNORE);
    }
}

static void test_of_a_collective(void)
{
    MPI_Request r;
    if (late) sleep_late();
    MPI_Iallreduce(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
    for (int done = 0; !done;) MPI_Test(&r, &done, MPI_STATUS_IGNORE);
}

static void fence(void)
{
    MPI_Win_fence(0, window);
    if (late) sleep_late();
    MPI_Put(out, 1, MPI_INT, other, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
}

static MPI_Group group_of_other(void)
{
    MPI_Group all, one;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &one);
    MPI_Group_free(&all);
    return one;
}

static void as_origin(MPI_Group group)
{
    MPI_Win_start(group, 0, window);
    MPI_Put(out, 1, MPI_INT, other, 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
}

static void late_target(void)
{
    MPI_Group group = group_of_other();
    if (late) {
        sleep_late();
        MPI_Win_post(group, 0, window);
        MPI_Win_wait(window);
    } else {
        as_origin(group);
    }
    MPI_Group_free(&group);
}

static void late_origin(void)
{
    MPI_Group group = group_of_other();
    if (late) {
        sleep_late();
        as_origin(group);
    } else {
        MPI_Win_post(group, 0, window);
        MPI_Win_wait(window);
    }
    MPI_Group_free(&group);
}

static void late_origin_tested(void)
{
    MPI_Group group = group_of_other();
    if (late) {
        sleep_late();
        as_origin(group);
    } else {
        MPI_Win_post(group, 0, window);
        for (int done = 0; !done;) MPI_Win_test(window, &done);
    }
    MPI_Group_free(&group);
}

/* The late rank has the lock before the other asks for it. */
static void lock(void)
{
    if (!late) MPI_Recv(in, 1, MPI_INT, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Put(out, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    if (late) {
        MPI_Win_flush(0, window);
        MPI_Send(out, 1, MPI_INT, other, 3, MPI_COMM_WORLD);
        sleep_late();
    }
    MPI_Win_unlock(0, window);
}

static void neighbours(void)
{
    if (late) sleep_late();
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, pair);
}

static void nonblocking_neighbours(void)
{
    MPI_Request r;
    if (late) sleep_late();
    MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, pair, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void persistent(void)
{
    MPI_Request r;
    if (late)
        MPI_Send_init(out, 1, MPI_INT, other, 4, MPI_COMM_WORLD, &r);
    else
        MPI_Recv_init(in, 1, MPI_INT, other, 4, MPI_COMM_WORLD, &r);
    if (late) sleep_late();
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
}

#if MPI_VERSION >= 4
static void persistent_collective(void)
{
    MPI_Request r;
    MPI_Allreduce_init(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    if (late) sleep_late();
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
}

static void partitioned(void)
{
    MPI_Request r;
    if (late)
        MPI_Psend_init(data, 4, 8, MPI_CHAR, other, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    else
        MPI_Precv_init(data, 4, 8, MPI_CHAR, other, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    for (int k = 0; late && k < 4; k++) {
        if (k == 3) sleep_late();
        MPI_Pready(k, r);
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
}
#endif

static void *sleep_and_ask(void *nothing)
{
    int size;
    sleep_late();
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return nothing;
}

/* The main thread of the late rank waits for its other one, and the other rank for that. */
static void join(void)
{
    pthread_t thread;
    if (late) {
        pthread_create(&thread, NULL, sleep_and_ask, NULL);
        pthread_join(thread, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*play)(void);
} WAYS[] = {
    {"test", test},
    {"testany", testany},
    {"testall", testall},
    {"testsome", testsome},
    {"test of a send", test_of_a_send},
    {"iprobe", iprobe},
    {"improbe", improbe},
    {"probe", probe},
    {"iprobe, then matched", iprobe_then_matched},
    {"probe, then matched", probe_then_matched},
    {"two polls in turns", two_polls_in_turns},
    {"test of a collective", test_of_a_collective},
    {"fence", fence},
    {"late target", late_target},
    {"late origin", late_origin},
    {"late origin tested", late_origin_tested},
    {"lock", lock},
    {"neighbours", neighbours},
    {"nonblocking neighbours", nonblocking_neighbours},
    {"persistent", persistent},
#if MPI_VERSION >= 4
    {"persistent collective", persistent_collective},
    {"partitioned", partitioned},
#endif
    {"join", join},
};

static void play(int number, int late_rank)
{
    char name[64];
    way = WAYS[number].name;
    late = rank == late_rank;
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(name, sizeof name, "waits %s", way);
    if (!late) tracelib_region_begin(name);
    WAYS[number].play();
    if (!late) tracelib_region_end(name);
}

int main(int argc, char **argv)
{
    int level, two = 2, around = 0, *memory;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    milliseconds = atol(argv[1]);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &two, &around, 0, &pair);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    for (int number = 0; number < (int)(sizeof WAYS / sizeof *WAYS); number++)
        for (int late_rank = 0; late_rank < 2; late_rank++) play(number, late_rank);
    MPI_Win_free(&window);
    MPI_Comm_free(&pair);
    MPI_Finalize();
    return 0;
}
