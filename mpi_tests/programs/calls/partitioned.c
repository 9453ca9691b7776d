// Partitioned communication (MPI 4): everybody to his right-hand neighbour, two pairs of requests with the same tag,
// and an ordinary message of that tag beside them. The two are started in one order where they are sent, in the other
// where they are received. With an argument there is one pair only, and nothing beside it.

#include "truth.h"

enum { PARTITIONS = 4, SMALL = 8, LARGE = 32, TAG = 5, ROUNDS = 3 };

static int small_out[PARTITIONS * SMALL], small_in[PARTITIONS * SMALL];
static int large_out[PARTITIONS * LARGE], large_in[PARTITIONS * LARGE];
static int ordinary[MESSAGE_INTS], arriving[MESSAGE_INTS], next, previous, pairs;

static void ready(MPI_Request small, MPI_Request large)
{
    int last[2] = {3, 2};
    for (int i = 0; pairs == 2 && i < PARTITIONS; i++) {
        CALL(MPI_Pready, i, large);
        truth_moved("MPI_Pready", LARGE * sizeof(int), 0);
    }
    CALL(MPI_Pready_range, 0, 1, small);
    truth_moved("MPI_Pready_range", 2 * SMALL * sizeof(int), 0);
    CALL(MPI_Pready_list, 2, last, small);
    truth_moved("MPI_Pready_list", 2 * SMALL * sizeof(int), 0);
}

static void round_of(MPI_Request send[2], MPI_Request receive[2])
{
    MPI_Request plain = MPI_REQUEST_NULL;
    int flag = 0;
    if (pairs == 2) {
        CALL(MPI_Irecv, arriving, MESSAGE_INTS, MPI_INT, previous, TAG, MPI_COMM_WORLD, &plain);
        CALL(MPI_Start, &receive[1]);
    }
    CALL(MPI_Start, &receive[0]);
    CALL(MPI_Startall, pairs, send);
    truth_sent(MPI_COMM_WORLD, next, TAG, sizeof small_out);
    if (pairs == 2) truth_sent(MPI_COMM_WORLD, next, TAG, sizeof large_out);
    ready(send[0], send[1]);
    if (pairs == 2)
        CALL(MPI_Send, outgoing(ordinary, MPI_COMM_WORLD, next, TAG, 10), 10, MPI_INT, next, TAG, MPI_COMM_WORLD);
    while (!flag) CALL(MPI_Parrived, receive[0], 1, &flag);
    CALL(MPI_Waitall, pairs, send, MPI_STATUSES_IGNORE);
    CALL(MPI_Wait, &receive[0], MPI_STATUS_IGNORE);
    truth_received(MPI_COMM_WORLD, previous, TAG, sizeof small_in);
    if (pairs == 1) return;
    CALL(MPI_Wait, &receive[1], MPI_STATUS_IGNORE);
    truth_received(MPI_COMM_WORLD, previous, TAG, sizeof large_in);
    CALL(MPI_Wait, &plain, MPI_STATUS_IGNORE);
    incoming(arriving, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Request send[2], receive[2];
    CALL(MPI_Init, &argc, &argv);
    truth_begin();
    pairs = argc > 1 ? 1 : 2;
    next = (truth.rank + 1) % truth.size;
    previous = (truth.rank + truth.size - 1) % truth.size;
    CALL(MPI_Psend_init, small_out, PARTITIONS, SMALL, MPI_INT, next, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &send[0]);
    if (pairs == 2)
        CALL(MPI_Psend_init, large_out, PARTITIONS, LARGE, MPI_INT, next, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &send[1]);
    CALL(MPI_Precv_init, small_in, PARTITIONS, SMALL, MPI_INT, previous, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
         &receive[0]);
    if (pairs == 2)
        CALL(MPI_Precv_init, large_in, PARTITIONS, LARGE, MPI_INT, previous, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
             &receive[1]);
    for (int i = 0; i < ROUNDS; i++) round_of(send, receive);
    for (int i = 0; i < pairs; i++) {
        CALL(MPI_Request_free, &send[i]);
        CALL(MPI_Request_free, &receive[i]);
    }
    CALL(MPI_Finalize);
    truth_write();
    return 0;
}
