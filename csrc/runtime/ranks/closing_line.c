#define _GNU_SOURCE
#include "ranks/closing_line.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buffer/totals.h"
#include "common/user_message.h"
#include "counters/off_cpu.h"
#include "mpi/pmpi.h"
#include "places/places.h"
#include "record/space_limit.h"

struct share_of_rank {
    uint64_t calls, lost_calls, left_out_calls, shortened_calls, bytes;
};

static struct share_of_rank sum_of_ranks;

/* MPI_Finalize, which is being made, counts already; what the last block will add to the file is known, too. */
void closing_line_gather(int rank, int size, uint64_t file_bytes, bool recorded, bool failed)
{
    struct totals totals = threads_totals();
    uint64_t waiting = totals.waiting_bytes;
    if (recorded && !failed) waiting += sizeof(struct file_call) + self.readings * sizeof(uint64_t);
    struct share_of_rank mine = {totals.calls + recorded, totals.lost_calls + (recorded && failed),
                                 totals.left_out_calls, places_shortened, file_bytes + waiting};
    struct share_of_rank *all = rank == 0 ? calloc((size_t)size, sizeof mine) : NULL;
    if (rank == 0 && !all) return;
    pmpi.Gather(&mine, sizeof mine, abi.byte, all, sizeof mine, abi.byte, 0, all_ranks);
    for (int i = 0; all && i < size; i++) {
        sum_of_ranks.calls += all[i].calls;
        sum_of_ranks.lost_calls += all[i].lost_calls;
        sum_of_ranks.left_out_calls += all[i].left_out_calls;
        sum_of_ranks.shortened_calls += all[i].shortened_calls;
        sum_of_ranks.bytes += all[i].bytes;
    }
    free(all);
}

/* The shortest name that works from here. */
static const char *readable_stem(const char *stem)
{
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here)) return stem;
    size_t n = strlen(here);
    return strncmp(stem, here, n) == 0 && stem[n] == '/' ? stem + n + 1 : stem;
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void describe_lost(char *text, size_t room)
{
    uint64_t lost = sum_of_ranks.lost_calls, left_out = sum_of_ranks.left_out_calls;
    const char *why = limit_bytes() ? " because of TRACELIB_LIMIT" : "";
    if (lost && left_out)
        snprintf(text, room, " (%" PRIu64 " more lost, %" PRIu64 " left out%s)", lost, left_out, why);
    else if (lost)
        snprintf(text, room, " (%" PRIu64 " more call%s lost%s)", lost, plural(lost), why);
    else if (left_out)
        snprintf(text, room, " (%" PRIu64 " more left out%s)", left_out, why);
}

static void say_shortened(void)
{
    uint64_t n = sum_of_ranks.shortened_calls;
    if (!n) return;
    say("%" PRIu64
        " call%s with fewer callers than TRACELIB_STACK asks for: to find all would have taken over a tenth of "
        "the time; TRACELIB_STACK=1 records the place alone",
        n, plural(n));
}

void closing_line_say(int size, const char *stem)
{
    if (message_quiet()) return;
    char lost[160] = "";
    const char *name = readable_stem(stem);
    describe_lost(lost, sizeof lost);
    uint64_t calls = sum_of_ranks.calls - sum_of_ranks.lost_calls - sum_of_ranks.left_out_calls;
    say("%d rank%s, %" PRIu64 " call%s%s, %.1f MB in %s.h5; next: analyze %s.h5", size, plural((uint64_t)size), calls,
        plural(calls), lost, (double)sum_of_ranks.bytes / 1e6, name, name);
    say_shortened();
}

void closing_line_say_rank(const struct store *store, int size, const char *stem)
{
    if (message_quiet()) return;
    const char *name = readable_stem(stem);
    uint64_t calls = store->table[TABLE_CALLS].rows;
    say("rank 0 of %d, %" PRIu64 " call%s, %.1f MB in %s.h5; next: analyze %s.h5", size, calls, plural(calls),
        (double)store_bytes(store) / 1e6, name, name);
}

void closing_line_say_alone(const struct store *store, const char *stem)
{
    if (message_quiet()) return;
    const char *name = readable_stem(stem);
    uint64_t rows = store->table[TABLE_EVENTS].rows;
    uint64_t own = 2 * store->table[TABLE_BLOCKS].rows + off_cpu_events(); /* of the tracer: flushes, no CPU */
    uint64_t events = rows > own ? rows - own : 0;
    uint64_t samples = store->table[TABLE_SAMPLES].rows;
    if (samples && !events) {
        say("%" PRIu64 " samples of a program without MPI, %.1f MB in %s.h5; next: analyze hot %s.h5", samples,
            (double)store_bytes(store) / 1e6, name, name);
        return;
    }
    say("%" PRIu64 " event%s of a program without MPI, %.1f MB in %s.h5; next: analyze %s.h5", events, plural(events),
        (double)store_bytes(store) / 1e6, name, name);
}
