#define _GNU_SOURCE
#include "sync.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "pmpi.h"

/* Round trips go on until so many in a row were no better, or so many were made in all. */
enum { PATIENCE = 200, MOST_ROUNDS = 4000, TAG = 1 };

/* Leaders: the first rank of each node but rank 0's, the same list on all ranks. */
static struct {
    bool known;
    int *ranks, n;
    word comm;
} leaders;

/* What a clock is identified by: the boot of the kernel and the time namespace. TRACELIB_SYNC=all pretends that
 * every rank has its own. */
static uint64_t clock_identity(int rank)
{
    char boot[64] = "";
    struct stat space = {.st_ino = 0};
    const char *wanted = getenv("TRACELIB_SYNC");
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, boot, sizeof boot - 1) <= 0) gethostname(boot, sizeof boot - 1);
    if (fd >= 0) close(fd);
    stat("/proc/self/ns/time", &space);
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ space.st_ino; /* FNV-1a */
    for (const char *p = boot; *p; p++) h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    return wanted && strcmp(wanted, "all") == 0 ? h + (uint64_t)rank : h;
}

static bool is_first(const uint64_t *identities, int rank)
{
    for (int i = 0; i < rank; i++)
        if (identities[i] == identities[rank]) return false;
    return true;
}

/* All ranks come to the same list, so all of them call MPI_Comm_dup or none. */
static void find_leaders(int rank, int size)
{
    leaders.known = true;
    uint64_t mine = clock_identity(rank), *identities = malloc((size_t)size * sizeof *identities);
    if (!identities) abort(); /* the others would wait for us for ever */
    pmpi.Allgather(&mine, sizeof mine, abi.byte, identities, sizeof mine, abi.byte, abi.world);
    leaders.ranks = calloc((size_t)size, sizeof *leaders.ranks);
    for (int i = 1; i < size && leaders.ranks; i++)
        if (identities[i] != identities[i - 1] && is_first(identities, i)) leaders.ranks[leaders.n++] = i;
    free(identities);
    if (leaders.n) pmpi.Comm_dup(abi.world, &leaders.comm);
}

/* Rank 0 answers each message with its clock, until the one that says it is the last. */
static void answer(int leader)
{
    int64_t last = 0;
    while (!last) {
        pmpi.Recv(&last, sizeof last, abi.byte, leader, TAG, pmpi_handle(&leaders.comm), abi.status_ignore);
        int64_t now = clock_monotonic_ns();
        pmpi.Send(&now, sizeof now, abi.byte, leader, TAG, pmpi_handle(&leaders.comm));
    }
}

/* The answer that came back soonest was read closest to the middle of its round trip. */
static struct file_sync ask(void)
{
    struct file_sync best = {.round_trip_ns = INT64_MAX};
    int64_t last = 0;
    for (int round = 0, found = 0; !last; round++) {
        int64_t answered, sent = clock_monotonic_ns();
        last = round - found >= PATIENCE || round == MOST_ROUNDS;
        pmpi.Send(&last, sizeof last, abi.byte, 0, TAG, pmpi_handle(&leaders.comm));
        pmpi.Recv(&answered, sizeof answered, abi.byte, 0, TAG, pmpi_handle(&leaders.comm), abi.status_ignore);
        int64_t round_trip = clock_monotonic_ns() - sent;
        if (round_trip >= best.round_trip_ns) continue;
        best = (struct file_sync){
            .local_ns = sent + round_trip / 2, .reference_ns = answered, .round_trip_ns = round_trip};
        found = round;
    }
    return best;
}

int sync_measure(struct store *store, int rank, int size)
{
    int error = 0;
    if (!leaders.known) find_leaders(rank, size);
    for (int i = 0; i < leaders.n; i++) {
        if (rank == 0) answer(leaders.ranks[i]);
        if (rank != leaders.ranks[i]) continue;
        struct file_sync row = ask();
        if (store) error = store_append(store, TABLE_SYNC, &row, 1);
    }
    return error;
}
