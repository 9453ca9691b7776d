// Two halves of one job that meet at run time, in the ways that the arguments say: "port" passes on the name of a port,
// "name" publishes and finds one, "join" makes pairs over sockets. Each half has the other's processes as the remote
// side of an intercommunicator.

#include "truth.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TIMES = 2 };

static int out[MESSAGE_INTS], in[MESSAGE_INTS];

// Every process of a side to every one of the other, and back.
static void speak(MPI_Comm inter, int tag)
{
    int there;
    MPI_Comm copy, merged;
    CALL(MPI_Comm_remote_size, inter, &there);
    CALL(MPI_Comm_dup, inter, &copy);
    for (int i = 0; i < there; i++) {
        outgoing(out, inter, i, tag, 10 + i);
        CALL(MPI_Send, out, 10 + i, MPI_INT, i, tag, inter);
        outgoing(out, copy, i, tag + 1, 20 + i);
        CALL(MPI_Send, out, 20 + i, MPI_INT, i, tag + 1, copy);
    }
    for (int i = 0; i < there; i++) {
        CALL(MPI_Recv, in, MESSAGE_INTS, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, MPI_STATUS_IGNORE);
        incoming(in, copy);
        CALL(MPI_Recv, in, MESSAGE_INTS, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, MPI_STATUS_IGNORE);
        incoming(in, inter);
    }
    CALL(MPI_Intercomm_merge, inter, truth.rank % 2, &merged);
    CALL(MPI_Barrier, merged);
    CALL(MPI_Comm_free, &merged);
    CALL(MPI_Comm_free, &copy);
}

// The name of a port, from the root of one half to that of the other.
static void tell(char *port)
{
    truth_sent(MPI_COMM_WORLD, 1 - truth.rank, 1, MPI_MAX_PORT_NAME);
    CALL(MPI_Send, port, MPI_MAX_PORT_NAME, MPI_CHAR, 1 - truth.rank, 1, MPI_COMM_WORLD);
}

static void hear(char *port)
{
    CALL(MPI_Recv, port, MPI_MAX_PORT_NAME, MPI_CHAR, 1 - truth.rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    truth_received(MPI_COMM_WORLD, 1 - truth.rank, 1, MPI_MAX_PORT_NAME);
}

static void accept_half(MPI_Comm half, int tag)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    if (truth.rank < 2) {
        CALL(MPI_Open_port, MPI_INFO_NULL, port);
        tell(port);
    }
    CALL(MPI_Comm_accept, port, MPI_INFO_NULL, 0, half, &inter);
    speak(inter, tag);
    CALL(MPI_Comm_disconnect, &inter);
    if (truth.rank < 2) CALL(MPI_Close_port, port);
}

static void connect_half(MPI_Comm half, int tag)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    if (truth.rank < 2) hear(port);
    CALL(MPI_Comm_connect, port, MPI_INFO_NULL, 0, half, &inter);
    speak(inter, tag);
    CALL(MPI_Comm_disconnect, &inter);
}

// Each half accepts in its turn.
static void by_port(MPI_Comm half)
{
    for (int i = 0; i < TIMES; i++)
        if (truth.rank % 2 == i % 2) {
            accept_half(half, 10 * i);
        } else {
            connect_half(half, 10 * i);
        }
}

static void by_name(void)
{
    char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "";
    if (truth.rank == 0) {
        CALL(MPI_Open_port, MPI_INFO_NULL, port);
        CALL(MPI_Publish_name, "half of the job", MPI_INFO_NULL, port);
        tell(port);
    }
    if (truth.rank == 1) {
        hear(port);
        CALL(MPI_Lookup_name, "half of the job", MPI_INFO_NULL, found);
        if (strcmp(port, found) != 0) truth_fail("the name stands for another port");
    }
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    if (truth.rank == 0) {
        CALL(MPI_Unpublish_name, "half of the job", MPI_INFO_NULL, port);
        CALL(MPI_Close_port, port);
    }
}

// A socket to the other process of the pair; the even one listens.
static int socket_of_pair(int other)
{
    struct sockaddr_in where = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof where;
    int made = socket(AF_INET, SOCK_STREAM, 0), number;
    if (truth.rank % 2 == 0) {
        if (bind(made, (struct sockaddr *)&where, length) || listen(made, 1)) truth_fail("cannot listen");
        getsockname(made, (struct sockaddr *)&where, &length);
        number = where.sin_port;
        PMPI_Send(&number, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
        int accepted = accept(made, NULL, NULL);
        close(made);
        return accepted;
    }
    PMPI_Recv(&number, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    where.sin_port = number;
    if (connect(made, (struct sockaddr *)&where, length)) truth_fail("cannot connect");
    return made;
}

static void by_socket(void)
{
    for (int i = 0; i < TIMES; i++) {
        MPI_Comm inter;
        int fd = socket_of_pair(truth.rank ^ 1);
        CALL(MPI_Comm_join, fd, &inter);
        speak(inter, 10 * i);
        CALL(MPI_Comm_disconnect, &inter);
        close(fd);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm half;
    CALL(MPI_Init, &argc, &argv);
    truth_begin();
    CALL(MPI_Comm_split, MPI_COMM_WORLD, truth.rank % 2, 0, &half);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "port")) by_port(half);
        if (!strcmp(argv[i], "name")) by_name();
        if (!strcmp(argv[i], "join")) by_socket();
    }
    CALL(MPI_Comm_free, &half);
    CALL(MPI_Finalize);
    truth_write();
    return 0;
}
