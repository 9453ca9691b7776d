#define _GNU_SOURCE
#include "node/neighbours.h"

#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/pmpi.h"

enum { WORDS = 16 }; /* CPU 1024 counts as CPU 0, and so on */

/* Message of one rank to the others. */
struct place {
    uint64_t node;
    uint64_t cpus[WORDS];
};

static uint64_t node_identity(void)
{
    char name[256] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, name, sizeof name - 1) <= 0) gethostname(name, sizeof name - 1);
    if (fd >= 0) close(fd);
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (const char *p = name; *p; p++) h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    return h;
}

static struct place my_place(void)
{
    struct place place = {.node = node_identity()};
    int most = 1 << 16;
    size_t bytes = CPU_ALLOC_SIZE(most);
    cpu_set_t *set = CPU_ALLOC(most);
    bool known = set && sched_getaffinity(0, bytes, set) == 0;
    for (int cpu = 0; cpu < most; cpu++)
        if (!known || CPU_ISSET_S(cpu, bytes, set)) place.cpus[cpu / 64 % WORDS] |= UINT64_C(1) << cpu % 64;
    if (set) CPU_FREE(set);
    return place;
}

static unsigned count_cpus(const uint64_t *cpus)
{
    unsigned n = 0;
    for (int i = 0; i < WORDS; i++) n += (unsigned)__builtin_popcountll(cpus[i]);
    return n;
}

static bool sets_meet(const uint64_t *a, const uint64_t *b)
{
    for (int i = 0; i < WORDS; i++)
        if (a[i] & b[i]) return true;
    return false;
}

static bool set_is_within(const uint64_t *a, const uint64_t *b)
{
    for (int i = 0; i < WORDS; i++)
        if (a[i] & ~b[i]) return false;
    return true;
}

/* Ranks that may run on the CPUs of `cpus` only, and those that may run on any of them: more than there are CPUs? The
 * second with all CPUs that those ranks may use, and the ranks that those bring, until no more come. */
static bool outnumbered(const struct place *places, int size, const struct place *rank)
{
    uint64_t all[WORDS];
    unsigned inside = 0, ranks = 0, before;
    memcpy(all, rank->cpus, sizeof all);
    for (int i = 0; i < size; i++) inside += places[i].node == rank->node && set_is_within(places[i].cpus, rank->cpus);
    if (inside > count_cpus(rank->cpus)) return true;
    do {
        before = ranks;
        ranks = 0;
        for (int i = 0; i < size; i++) {
            if (places[i].node != rank->node || !sets_meet(places[i].cpus, all)) continue;
            ranks++;
            for (int w = 0; w < WORDS; w++) all[w] |= places[i].cpus[w];
        }
    } while (ranks != before);
    return ranks > count_cpus(all);
}

bool neighbours_share_cpus(int size)
{
    struct place mine = my_place(), *places = malloc((size_t)size * sizeof *places);
    if (!places) abort(); /* the others would wait for us for ever */
    pmpi.Allgather(&mine, sizeof mine, abi.byte, places, sizeof mine, abi.byte, all_ranks);
    bool shared = outnumbered(places, size, &mine);
    free(places);
    return shared;
}
