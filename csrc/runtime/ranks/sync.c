/* Measuring clocks by round trips.
 *
 * Between MPI_Init and MPI_Finalize this must never keep the program from going on. It is done right after collectives
 * over MPI_COMM_WORLD which no rank leaves before all have entered them: those that are to meet there do, whatever the
 * program does next. Which collective it is, rank 0 said at the previous measurement, as the number of such
 * collectives that have succeeded; their order is the same on all ranks. Only if some ranks fail in a
 * collective, or make it out of our sight, and others do not, do the numbers differ; then both sides wait for
 * GIVE_UP_NS, once, and it is over. What they have sent by then carries the number of its measurement and is passed
 * over by the next one, in MPI_Finalize. */
#define _GNU_SOURCE
#include "ranks/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buffer/buffer.h"
#include "clock/clock.h"
#include "clock/schedule.h"
#include "common/user_message.h"
#include "counters/counters.h"
#include "mpi/pmpi.h"
#include "record/rank_file.h"

enum { TAG = 1, BEST = 16 };
#define GIVE_UP_NS INT64_C(2000000000)
#define SPIN_NS 20000 /* longer than the round trip of a fast network */

/* Round trips go on until `patience` in a row were no better than the best and the best ones are alike, for at most
 * `most_ns`. (On a node where ranks wait for a core, most round trips last as long as others use it.) */
struct effort {
    int patience;
    int64_t most_ns;
};
static const struct effort thorough = {200, 300000000}, quick = {40, 3000000};

struct leader {
    int rank;
    bool counts;
};

/* Leaders: the first rank of each node but rank 0's, the same list on all ranks. */
static struct {
    bool known;
    struct leader *list;
    int n;
    word comm;
} leaders;

static struct {
    struct schedule schedule; /* of rank 0 */
    uint64_t count, next;     /* collectives so far; the one to measure at */
} points;

bool sync_counts;

/* Only who makes a collective over MPI_COMM_WORLD changes this, one thread at a time; those in others look at it. */
static void count_collectives(bool wanted)
{
    __atomic_store_n(&sync_counts, wanted, __ATOMIC_RELAXED);
}

/* Message of a question (value: is it the last?) and of its answer (value: rank 0's clock). */
struct exchange {
    int64_t measurement, value, next;
};

/* Return the number that identifies a clock: of the boot of the kernel and the time namespace. TRACELIB_SYNC=all
 * pretends that every rank has its own. */
static uint64_t clock_identity(int rank, bool all)
{
    char boot[64] = "";
    struct stat space = {.st_ino = 0};
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, boot, sizeof boot - 1) <= 0) gethostname(boot, sizeof boot - 1);
    if (fd >= 0) close(fd);
    stat("/proc/self/ns/time", &space);
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ space.st_ino; /* FNV-1a */
    for (const char *p = boot; *p; p++) h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    return all ? h + (uint64_t)rank : h;
}

/* Message of each rank to all others in MPI_Init. */
struct introduction {
    uint64_t identity;
    uint64_t first; /* the collective to measure at first; 0: none. Rank 0's is what counts */
    uint64_t counts;
};

static bool is_first(const struct introduction *all, int rank)
{
    for (int i = 0; i < rank; i++)
        if (all[i].identity == all[rank].identity) return false;
    return true;
}

static void list_leaders(const struct introduction *all, int rank, int size)
{
    bool taking_part = rank == 0;
    leaders.list = calloc((size_t)size, sizeof *leaders.list);
    for (int i = 1; i < size && leaders.list; i++)
        if (all[i].identity != all[i - 1].identity && is_first(all, i)) {
            leaders.list[leaders.n++] = (struct leader){i, all[i].counts};
            taking_part |= i == rank;
        }
    if (!leaders.n) return;
    pmpi.Comm_dup(all_ranks, &leaders.comm);
    points.next = all[0].first;
    count_collectives(taking_part && all[rank].counts && all[0].counts && points.next);
}

/* All ranks come to the same list, so all of them call MPI_Comm_dup or none. */
static void find_leaders(int rank, int size)
{
    leaders.known = true;
    points.schedule = schedule_read(rank == 0);
    struct introduction mine = {clock_identity(rank, points.schedule.all),
                                schedule_next(&points.schedule, 0, clock_monotonic_ns()),
                                thread_gate(&self) != GATE_SHUT};
    struct introduction *all = malloc((size_t)size * sizeof *all);
    if (!all) abort(); /* the others would wait for us for ever */
    pmpi.Allgather(&mine, sizeof mine, abi.byte, all, sizeof mine, abi.byte, all_ranks);
    list_leaders(all, rank, size);
    free(all);
}

/* Has a message come before the deadline? Whoever is waited for may wait for the very core that we keep busy. */
static bool arrives(int from, int64_t deadline)
{
    int64_t begin = clock_monotonic_ns();
    for (int here = 0;;) {
        pmpi.Iprobe(from, TAG, pmpi_handle(&leaders.comm), &here, abi.status_ignore);
        if (here) return true;
        int64_t now = clock_monotonic_ns();
        if (now > deadline) return false;
        if (now - begin > SPIN_NS) sched_yield();
    }
}

/* The next message of this measurement. */
static bool receive(struct exchange *e, int from, int64_t measurement, int64_t deadline)
{
    do {
        if (!arrives(from, deadline)) return false;
        pmpi.Recv(e, sizeof *e, abi.byte, from, TAG, pmpi_handle(&leaders.comm), abi.status_ignore);
    } while (e->measurement != measurement);
    return true;
}

/* So short that no MPI waits for the receiver. */
static void send_exchange(const struct exchange *e, int to)
{
    pmpi.Send(e, sizeof *e, abi.byte, to, TAG, pmpi_handle(&leaders.comm));
}

/* Rank 0 answers each message with its clock, until the one that says it is the last. */
static bool answer_readings(int leader, int64_t measurement, int64_t deadline)
{
    struct exchange e = {.value = false};
    while (!e.value) {
        if (!receive(&e, leader, measurement, deadline)) return false;
        send_exchange(&(struct exchange){measurement, clock_monotonic_ns(), (int64_t)points.next}, leader);
    }
    return true;
}

static int64_t root(uint64_t square)
{
    uint64_t r = square, next = (square + 1) / 2;
    while (next < r) {
        r = next;
        next = (r + square / r) / 2;
    }
    return (int64_t)r;
}

/* How much the best reading is off, as an estimate of its standard deviation. Each reading is the truth plus half the
 * difference between the delays of its two messages. The best ones have the shortest and so the least disturbed
 * delays; of two that are equally good, the mean square of the difference is twice the variance of one. The best is at
 * least as good as those that it is compared with. What all have in common, a way that is always slower than the way
 * back, no number of round trips shows: only half the round trip bounds it. */
static int64_t accuracy(const struct file_sync *best, int n)
{
    uint64_t sum = 0;
    int64_t bound = best[0].round_trip_ns / 2, ahead = best[0].local_ns - best[0].reference_ns;
    for (int i = 1; i < n; i++) {
        int64_t off = best[i].local_ns - best[i].reference_ns - ahead;
        sum += (uint64_t)(off * off);
    }
    int64_t deviation = n > 1 ? root(sum / (2 * (uint64_t)(n - 1))) : bound;
    if (deviation > bound) deviation = bound;
    return deviation > 1 ? deviation : 1;
}

/* Insert into the best readings, the shortest round trip first. Returns its place; n: not among them. */
static int rank_reading(struct file_sync *best, int *n, struct file_sync reading)
{
    int at = *n;
    while (at > 0 && best[at - 1].round_trip_ns > reading.round_trip_ns) at--;
    if (at == BEST) return at;
    if (*n < BEST) ++*n;
    memmove(best + at + 1, best + at, (size_t)(*n - 1 - at) * sizeof *best);
    best[at] = reading;
    return at;
}

static bool are_alike(const struct file_sync *best, int n)
{
    return n == BEST && best[BEST - 1].round_trip_ns <= best[0].round_trip_ns + best[0].round_trip_ns / 4;
}

/* The answer that came back soonest was read closest to the middle of its round trip. */
static bool ask_readings(struct effort effort, int64_t measurement, int64_t deadline, struct file_sync *reading)
{
    struct file_sync best[BEST];
    int n = 0;
    int64_t end = clock_monotonic_ns() + effort.most_ns;
    for (int round = 0, found = 0, last = 0; !last; round++) {
        struct exchange e;
        int64_t sent = clock_monotonic_ns();
        last = (round - found >= effort.patience && are_alike(best, n)) || sent > end;
        send_exchange(&(struct exchange){measurement, last, 0}, 0);
        if (!receive(&e, 0, measurement, deadline)) return false;
        int64_t round_trip = clock_monotonic_ns() - sent;
        struct file_sync one = {sent + round_trip / 2, e.value, round_trip, 0};
        if (rank_reading(best, &n, one) == 0) found = round;
        points.next = (uint64_t)e.next;
    }
    *reading = best[0];
    reading->accuracy_ns = accuracy(best, n);
    return true;
}

int sync_measure(struct store *store, int rank, int size)
{
    int error = 0;
    bool initial = !leaders.known;
    int64_t measurement = initial ? 0 : -1;
    count_collectives(false); /* but for what find_leaders decides */
    if (initial) find_leaders(rank, size);
    for (int i = 0; i < leaders.n; i++) {
        struct file_sync row;
        int leader = leaders.list[i].rank;
        if (rank == 0) answer_readings(leader, measurement, INT64_MAX);
        if (rank != leader) continue;
        ask_readings(thorough, measurement, INT64_MAX, &row);
        if (store) error = store_append(store, TABLE_SYNC, &row, 1);
    }
    return error;
}

void sync_forget(void)
{
    count_collectives(false);
    if (leaders.n) pmpi.Comm_free(&leaders.comm);
    free(leaders.list);
    memset(&leaders, 0, sizeof leaders);
}

static void store_reading(const struct file_sync *row)
{
    if (!store_begin()) return;
    struct store *store = rank_file_store();
    int error = store ? store_append(store, TABLE_SYNC, row, 1) : 0;
    if (error) rank_file_failed(error);
    store_end();
}

/* Rank 0, or a leader. False: somebody was not there. */
static bool measure_point(void)
{
    struct file_sync row;
    int64_t number = (int64_t)points.count, now = clock_monotonic_ns(), deadline = now + GIVE_UP_NS;
    if (rank_file.rank != 0) {
        if (!ask_readings(quick, number, deadline, &row)) return false;
        store_reading(&row);
        return true;
    }
    points.next = schedule_next(&points.schedule, points.count, now);
    for (int i = 0; i < leaders.n; i++)
        if (leaders.list[i].counts && !answer_readings(leaders.list[i].rank, number, deadline)) return false;
    return true;
}

void sync_collective(struct thread *t)
{
    if (++points.count != points.next) return;
    /* Both events without a flush between them, which would be an event inside another. */
    if (t->spool->count[TABLE_EVENTS] + 2 > t->capacity[TABLE_EVENTS]) thread_flush(t);
    struct counting_pause pause;
    uint64_t begin = clock_ticks();
    counting_hold(t, &pause);
    bool met = measure_point();
    count_collectives(met);
    if (!met)
        say("rank %d: not all ranks have made the same collectives; clocks are measured again in MPI_Finalize only",
            rank_file.rank);
    thread_store_event(t, begin, SYNC_TYPE, 1);
    counting_resume(t, &pause);
    thread_store_event(t, clock_ticks(), SYNC_TYPE, 0);
}
