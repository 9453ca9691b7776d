// Messages whose sizes say which of their channel they are: `channels N [HOW]`. Receives are posted in one
// order and completed in another, some an iteration later, some from any source.
//     HOW: none; pcontrol, pause (tracelib_pause, tracelib_resume): each rank switches tracing off and on at times of
//     its own, and counts a call only where it is on; ordered: receives are completed in the order of posting.
// Notes in truth-<rank>.jsonl besides the calls: "both" and "one", of the messages received here those of which both
// sides were recorded, or one.

#include "tracelib.h"
#include "truth.h"

enum { BATCH = 4, LATE = 2, ROOM = 1100 };

static int on = 1, how;

#define MAKE(name, ...) (on ? truth_count(#name) : (void)0, name(__VA_ARGS__))

static void turn(int to)
{
    if (how == 1) {
        on = 1; // the switching call itself is recorded
        MAKE(MPI_Pcontrol, to);
    } else if (how == 2 && to) {
        tracelib_resume();
    } else if (how == 2) {
        tracelib_pause();
    }
    on = to;
}

static int size_of(long number, int tag)
{
    return 1 + (int)((number * 7 + tag) % 1021);
}

struct receive {
    MPI_Request request;
    char data[ROOM];
};

static void post(struct receive *r, int number, int source, int tag)
{
    MAKE(MPI_Irecv, r->data, ROOM, MPI_BYTE, number % 3 ? source : MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &r->request);
}

static void complete(struct receive *r)
{
    MAKE(MPI_Wait, &r->request, MPI_STATUS_IGNORE);
    if (r->data[0] && on) truth_count("both");
    if (r->data[0] != on) truth_count("one");
}

int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    const char *way = argc > 2 ? argv[2] : "none";
    static struct receive receives[2][BATCH];
    static char data[BATCH][ROOM];
    long sent = 0;
    int late = strcmp(way, "ordered") == 0 ? 0 : LATE;
    how = strcmp(way, "pcontrol") == 0 ? 1 : strcmp(way, "pause") == 0 ? 2 : 0;
    MAKE(MPI_Init, &argc, &argv);
    truth_begin();
    int to = (truth.rank + 1) % truth.size, from = (truth.rank + truth.size - 1) % truth.size;
    for (int i = 0; i < n; i++) {
        struct receive *now = receives[i % 2], *before = receives[(i + 1) % 2];
        MPI_Request requests[BATCH];
        if (how && i % 40 == 10 + 3 * truth.rank) turn(0);
        if (how && i % 40 == 25 + 5 * truth.rank) turn(1);
        for (int k = 0; k < BATCH; k++) post(&now[k], i + k, from, k % 2);
        for (int k = 0; k < BATCH; k++) {
            data[k][0] = (char)on;
            MAKE(MPI_Isend, data[k], size_of(sent++, k % 2), MPI_BYTE, to, k % 2, MPI_COMM_WORLD, &requests[k]);
        }
        for (int k = 0; i && k < late; k++) complete(&before[k]);
        for (int k = late; k < BATCH; k++) complete(&now[late ? BATCH - 1 - (k - late) : k]);
        MAKE(MPI_Waitall, BATCH, requests, MPI_STATUSES_IGNORE);
    }
    for (int k = 0; k < late; k++) complete(&receives[(n + 1) % 2][k]);
    if (how && !on) turn(1);
    MAKE(MPI_Barrier, MPI_COMM_WORLD);
    truth_count("MPI_Finalize");
    truth_write();
    MPI_Finalize();
    return 0;
}
